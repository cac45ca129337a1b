/// How often `--json` reports the progress of each upload.
enum JSONProgressInterval {
  case every(milliseconds: Int64)
  case never
}
