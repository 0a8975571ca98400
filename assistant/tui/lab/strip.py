"""The line at the bottom that shows the jobs: what runs, how far, and how to cancel it."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.tui.lab.jobs import Job
from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["Strip"]

_SYMBOLS = {"queued": "…", "running": "▶", "done": "✓", "failed": "✗", "cancelled": "■"}
_STYLES = {"queued": "", "running": "$text-accent", "done": "$text-success", "failed": "$text-error", "cancelled": ""}
_BAR = 10


class Strip(Static):
    """Shows the newest job that is not over, else the newest."""

    DEFAULT_CSS = """
    Strip { height: 1; background: $panel; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    class Cancel(Message):
        """The link that cancels was clicked."""

    def action_cancel(self) -> None:
        """Ask for the end of the job that is shown."""
        self.post_message(self.Cancel())

    def show(self, jobs: list[Job], say: Words) -> None:
        """Show jobs, the newest last.

        Args:
            jobs: those of this session that are worth showing.
            say: the sentences of the area.
        """
        active = [job for job in jobs if not job.is_over]
        shown = active[-1:] or jobs[-1:]
        if not shown:
            self.update(plain(say("no_jobs"), "$foreground 60%"))
            return
        job = shown[0]
        line = plain(f"{_SYMBOLS[job.state]} {say(f'job_{job.state}')}", _STYLES[job.state]) + plain(f" {job.title}")
        if not job.is_over and job.share is not None:
            done = round(job.share * _BAR)
            line += plain(f" {'█' * done}{'░' * (_BAR - done)} {job.share:.0%} {job.doing}")
        if len(active) > 1:
            line += plain(say("more_jobs", count=len(active) - 1), "$foreground 60%")
        if not job.is_over:
            line += Content("  ") + Content.styled(say("cancel_here"), "reverse").stylize("@click=cancel")
        self.update(line)
