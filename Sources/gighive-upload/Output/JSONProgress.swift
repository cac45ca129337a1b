/// How often `--json` reports the progress of each upload.
enum JSONProgress {
  case every(milliseconds: Int64)
  case never
}
