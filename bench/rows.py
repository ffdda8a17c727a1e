"""What is measured: each row is one job for one side, and the figures read from its outcome."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

Sample = Mapping[str, float]

MIB = 1 << 20


class Side(StrEnum):
    """Which program is under test; its counterpart is neutral, but for both ends."""

    AGENT = "agent"
    CLIENT = "client"
    BOTH = "both"


@dataclass(frozen=True)
class Figure:
    """A number of the table. `short` writes it with its unit."""

    title: str
    read: Callable[[Sample], float]
    short: Callable[[float], str]


@dataclass(frozen=True)
class Row:
    """A job. `pinned` keeps both programs on one core: across idle cores the wake-up cost is all one would see."""

    key: str
    side: Side
    job: tuple[str, ...]
    figures: tuple[Figure, ...]
    pinned: bool = False

    @property
    def count(self) -> int:
        return int(self.job[1])


def rate_text(rate: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if rate >= size:
            return f"{rate / size:.3g}{unit}/s"
    return f"{rate:.0f}/s"


def work(title: str, count: int) -> tuple[Figure, Figure]:
    """Speed, and CPU time of the program under test for each message."""
    return (
        Figure(title, lambda sample: count / sample["seconds"], rate_text),
        Figure(f"{title}: CPU", lambda sample: sample["cpu"] / count * 1e6, lambda value: f"{value:.3g} us"),
    )


def milliseconds(title: str, key: str = "seconds", scale: float = 1000) -> Figure:
    return Figure(title, lambda sample: sample[key] * scale, lambda value: f"{value:.0f} ms")


def mebibytes(title: str, key: str) -> Figure:
    return Figure(title, lambda sample: sample[key], lambda value: f"{value:.0f} MiB")


def streaming(key: str, side: Side, title: str, size: int, count: int = 20_000) -> Row:
    text = f"{title} {count // 1000}k x {f'{size} B' if size < 1024 else f'{size // 1024} KiB'}"
    return Row(key, side, ("stream", str(count), str(size)), work(text, count))


def round_trips(key: str, side: Side, count: int, in_flight: int) -> Row:
    job = "roundtrip" if side is Side.AGENT else "ask"
    title = f"{side} round trips, {in_flight} in flight"
    return Row(key, side, (job, str(count), str(in_flight)), work(title, count), pinned=True)


def answering(key: str, count: int, in_flight: int) -> Row:
    """The client under test answers permission requests."""
    title = f"client answers requests, {in_flight} in flight"
    return Row(key, Side.CLIENT, ("roundtrip", str(count), str(in_flight)), work(title, count), pinned=True)


ROWS: tuple[Row, ...] = (
    streaming("agent-stream-32", Side.AGENT, "agent streams", 32),
    streaming("agent-stream-2k", Side.AGENT, "agent streams", 2048),
    round_trips("agent-roundtrip-1", Side.AGENT, 5_000, 1),
    round_trips("agent-roundtrip-64", Side.AGENT, 12_800, 64),
    streaming("client-stream-32", Side.CLIENT, "client receives", 32),
    streaming("client-stream-2k", Side.CLIENT, "client receives", 2048),
    answering("client-answers-64", 12_800, 64),
    round_trips("client-roundtrip-1", Side.CLIENT, 5_000, 1),
    round_trips("client-roundtrip-64", Side.CLIENT, 12_800, 64),
    Row(
        "start",
        Side.AGENT,
        ("start", "1"),
        (milliseconds("spawn to initialize", "start_ms", 1), mebibytes("memory after it", "rss_mib")),
    ),
    Row(
        "agent-large",
        Side.AGENT,
        ("large", str(64 * MIB)),
        (milliseconds("agent receives 64 MiB"), mebibytes("agent receives 64 MiB: peak", "peak_mib")),
    ),
    Row(
        "client-large",
        Side.CLIENT,
        ("stream", "1", str(64 * MIB)),
        (milliseconds("client receives 64 MiB"), mebibytes("client receives 64 MiB: peak", "peak_mib")),
    ),
    Row(
        "client-stall",
        Side.CLIENT,
        ("stream", "50000", "2048", "3"),
        (mebibytes("50k x 2 KiB into a handler that stalls 3 s: peak", "peak_mib"),),
    ),
    streaming("both-stream-32", Side.BOTH, "both ends", 32),
)
