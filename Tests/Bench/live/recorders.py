"""The recorders, and what they record: raw material that comes through a pipe, as from a camera or a sound card."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ["alsa-utils", "ffmpeg", "flac", "gstreamer1.0-plugins-bad", "gstreamer1.0-plugins-base", "gstreamer1.0-plugins-good",
            "gstreamer1.0-tools", "lame", "motion", "obs-studio", "sox", "xvfb"]

SOUND_BYTES_PER_SECOND = 8 * 3 * 176_400
"""Eight channels of 24 bits at 176.4 kHz: as much as the picture."""

SOUND_BLOCK = 8 * 3 * 32_768

RAW = ["-f", "s24le", "-ar", "176400", "-ac", "8", "-i", "-"]
FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
SOUND = [*FFMPEG, *RAW]
PICTURE = [*FFMPEG, "-f", "matroska", "-i", "-", "-c", "copy"]
OBS = ["bash", "-c", "read -r screen < <(exec Xvfb -displayfd 1 -terminate); DISPLAY=:$screen exec obs --multi --startrecording"]
GSTREAMER = ["gst-launch-1.0", "-q", "-e", "fdsrc", "fd=0", "blocksize=65536", "!"]


@dataclass(frozen=True)
class Recorder:
    name: str
    format: str
    suffix: str
    material: str
    arguments: list[str]
    """Without the file to write, which is the last one, or `location=FILE` of GStreamer. OBS: for its muxer."""
    appends: bool = False
    """Whether it never writes anything again, and the file's beginning shows that."""

    stop: signal.Signals | None = None
    """What ends it, if it reads the material by itself, in real time; None for the end of its input."""

    def command(self, file: Path, material: Path) -> list[str]:
        if self.name == "arecord":
            # A sound card that is a pipe.
            config = file.with_name("asound.conf")
            config.write_text("pcm.none { type null }\npcm.feed { type file slave.pcm none file /dev/null infile /dev/stdin format raw }\n")
            seconds = material.stat().st_size // SOUND_BYTES_PER_SECOND
            return ["env", f"ALSA_CONFIG_PATH={config}", *self.arguments, "-d", str(seconds), str(file)]
        if self.name == "motion":
            config = file.with_name("motion.conf")
            settings = {
                "daemon": "off", "setup_mode": "off", "log_level": 1, "target_dir": file.parent, "netcam_url": f"file://{material}",
                "width": 1280, "height": 720, "framerate": 30, "emulate_motion": "on", "picture_output": "off", "movie_output": "on",
                "movie_passthrough": "on", "movie_max_time": 0, "movie_filename": file.stem, "webcontrol_port": 0, "stream_port": 0}
            config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
            return [*self.arguments, "-c", str(config)]
        if self.name == "OBS":
            home = file.with_name("home")
            self._configure_obs(home / ".config/obs-studio", file, material)
            return ["env", "-i", f"PATH={os.environ['PATH']}", f"HOME={home}", *OBS]
        return [*self.arguments, f"location={file}" if self.arguments[0] == GSTREAMER[0] else str(file)]

    def _configure_obs(self, directory: Path, file: Path, material: Path) -> None:
        """It records what a media source plays."""
        item = {"name": "Film", "visible": True, "scale": {"x": 0.5, "y": 0.5}}
        scene = {"current_scene": "Scene", "sources": [
            {"id": "ffmpeg_source", "name": "Film", "settings": {"local_file": str(material), "looping": True}},
            {"id": "scene", "name": "Scene", "settings": {"items": [item]}}]}
        profile = {
            "Output": {"FilenameFormatting": file.stem},
            "SimpleOutput": {
                "FilePath": file.parent, "RecFormat": self.suffix, "MuxerCustom": " ".join(self.arguments), "VBitrate": 33_000,
                "UseAdvanced": "true", "Preset": "ultrafast", "x264Settings": "keyint=30"},
            "Video": {"BaseCX": 640, "BaseCY": 360, "OutputCX": 640, "OutputCY": 360}}
        for name, content in {
            # It asks nothing, neither when it starts nor when it ends.
            "global.ini": _ini({"General": {"FirstRun": "true", "ConfirmOnExit": "false"}}),
            "basic/profiles/Untitled/basic.ini": _ini(profile), "basic/scenes/Untitled.json": json.dumps(scene)
        }.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(content)


def _ini(sections: dict[str, dict[str, object]]) -> str:
    """Without spaces around the equals sign, which OBS does not take."""
    return "".join(f"[{section}]\n" + "".join(f"{name}={value}\n" for name, value in settings.items())
                   for section, settings in sections.items())


def _pictures(muxer: str) -> list[str]:
    """GStreamer with this muxer."""
    return [*GSTREAMER, "matroskademux", "name=d", "d.video_0", "!", "queue", "!", "h264parse", "!", "m.", "d.audio_0", "!", "queue",
            "!", "aacparse", "!", "m.", *muxer.split(), "name=m", "!", "filesink"]


RECORDERS = [
    Recorder("sox", "WAV", "wav", "sound", ["sox", "-t", "raw", "-r", "176400", "-c", "8", "-e", "signed", "-b", "24", "-"]),
    Recorder("ffmpeg", "WAV", "wav", "sound", [*SOUND, "-c", "copy"]),
    Recorder("arecord", "WAV", "wav", "sound", ["arecord", "-q", "-D", "feed", "-t", "wav", "-f", "S24_3LE", "-c", "8", "-r", "176400",
                                              "--period-size", "4096", "--buffer-size", "16384"]),
    Recorder("GStreamer", "WAV", "wav", "sound", [
        *GSTREAMER, "rawaudioparse", "format=pcm", "pcm-format=s24le", "sample-rate=176400", "num-channels=8", "!", "wavenc", "!",
        "filesink"]),
    Recorder("ffmpeg", "RF64", "wav", "sound", [*SOUND, "-c", "copy", "-rf64", "always"]),
    Recorder("ffmpeg", "W64", "w64", "sound", [*SOUND, "-c", "copy"]),
    Recorder("flac", "FLAC", "flac", "sound", [
        "flac", "-s", "-0", "--lax", "-f", "--endian=little", "--sign=signed", "--channels=8", "--bps=24", "--sample-rate=176400", "-",
        "-o"]),
    Recorder("ffmpeg", "Ogg (FLAC)", "ogg", "sound", [*SOUND, "-c", "flac", "-compression_level", "0", "-strict", "-2"], appends=True),
    Recorder("ffmpeg", "MP3", "mp3", "mp3", [*FFMPEG, "-f", "mp3", "-i", "-", "-c", "copy"]),
    Recorder("lame", "MP3", "mp3", "sound", ["lame", "--quiet", "-q", "9", "-b", "320", "-r", "-s", "44.1", "--bitwidth", "16", "-"]),
    Recorder("ffmpeg", "MP4", "mp4", "picture", PICTURE),
    Recorder("GStreamer", "MP4", "mp4", "picture", _pictures("mp4mux")),
    Recorder("ffmpeg", "MP4, `+faststart`", "mp4", "picture", [*PICTURE, "-movflags", "+faststart"]),
    Recorder("ffmpeg", "MP4, fragmented", "mp4", "picture", [*PICTURE, "-movflags", "+frag_keyframe+empty_moov"],
             appends=True),
    Recorder("motion", "MP4", "mp4", "picture", ["motion"], stop=signal.SIGTERM),
    Recorder("OBS", "MP4", "mp4", "picture", [], stop=signal.SIGINT),
    Recorder("OBS", "MP4, fragmented", "mp4", "picture", ["movflags=frag_keyframe+empty_moov"], appends=True, stop=signal.SIGINT),
    Recorder("ffmpeg", "MOV", "mov", "picture", PICTURE),
    Recorder("GStreamer", "MOV, index reserved", "mov", "picture", _pictures(
        "qtmux reserved-max-duration=600000000000 reserved-moov-update-period=1000000000")),
    Recorder("ffmpeg", "MKV", "mkv", "picture", PICTURE),
    Recorder("GStreamer", "MKV", "mkv", "picture", _pictures("matroskamux")),
    Recorder("OBS", "MKV", "mkv", "picture", [], stop=signal.SIGINT),
    Recorder("ffmpeg", "MPEG-TS", "ts", "picture", PICTURE, appends=True),
    Recorder("ffmpeg", "AVI", "avi", "picture", [*PICTURE, "-bsf:v", "h264_mp4toannexb"]),
    Recorder("GStreamer", "AVI", "avi", "picture", _pictures("avimux")),
]


def make_materials(directory: Path, length: int) -> dict[str, Path]:
    """What is recorded, each `length` bytes or a little more, at 4.2 MB/s (32 Mbit/s); made once."""
    directory.mkdir(parents=True, exist_ok=True)
    made = {"sound": directory / f"sound-{length}.raw", "mp3": directory / f"sound-{length}.mp3",
            "picture": directory / f"picture-{length}.mkv"}
    seconds = length // SOUND_BYTES_PER_SECOND + 1
    for name, file in made.items():
        if not file.exists():
            part = file.with_suffix(".part")
            _make(name, part, length, seconds)
            part.rename(file)
    return made


def _make(name: str, file: Path, length: int, seconds: int) -> None:
    if name == "sound":
        # Noise, so that FLAC does not make it smaller; whole samples of all channels, as flac demands.
        with file.open("wb") as sound:
            for _ in range(length // SOUND_BLOCK + 1):
                sound.write(os.urandom(SOUND_BLOCK))
    elif name == "mp3":
        minute = subprocess.run(
            [*FFMPEG, "-f", "lavfi", "-i", "anoisesrc=r=44100", "-t", "60", "-b:a", "320k", "-write_xing", "0", "-id3v2_version", "0",
             "-f", "mp3", "-"], check=True, stdout=subprocess.PIPE).stdout
        file.write_bytes(minute * (length // len(minute) + 1))
    else:
        subprocess.run(
            [*FFMPEG, "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30,noise=alls=40:allf=t", "-f", "lavfi", "-i", "sine=r=48000",
             "-t", str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-b:v", "33M", "-minrate", "33M", "-maxrate", "33M",
             "-bufsize", "33M", "-x264-params", "nal-hrd=cbr:force-cfr=1", "-c:a", "aac", "-b:a", "256k", "-f", "matroska", str(file)],
            check=True)
