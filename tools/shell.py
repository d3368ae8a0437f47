"""Run the cells of a notebook in this process, and keep what they show as Jupyter stores it."""

import traceback
from base64 import b64encode

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


class Silent(DisplayHook):
    """Shows nothing: the result of a cell is kept as an output, not printed."""

    kept = None

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.kept = shown("execute_result", format_dict, md_dict or {})

    def log_output(self, format_dict):
        pass


class Shell(InteractiveShell):
    """IPython without a terminal and without a kernel; pictures of pyplot are PNG."""

    displayhook_class = Silent

    def enable_gui(self, gui=None):
        """A notebook that is only run has no windows."""

    def start(self, folder):
        """Be ready for a notebook that lies in this folder."""
        self.display_formatter.active = True
        self.enable_matplotlib("inline")
        self.run_cell(f"import sys; sys.path.insert(0, {folder.as_posix()!r})")

    def outputs(self, source):
        """Run a cell; returns its outputs and the exception that ended it, or None."""
        self.displayhook.kept = None
        with capture_output() as said:
            done = self.run_cell(source)
        error = done.error_before_exec or done.error_in_exec
        found = [stream(name, getattr(said, name)) for name in ("stdout", "stderr")]
        if error:
            found.append(failure(error))
        found += [shown("display_data", o.data, o.metadata) for o in said.outputs]
        if result := self.displayhook.kept:
            found.append(result | dict(execution_count=None))
        return list(filter(None, found)), error


def stream(name, text):
    """What a cell has printed as an output, or None."""
    return dict(output_type="stream", name=name, text=text.splitlines(True)) if text else None


def failure(error):
    """An exception as an output."""
    return dict(
        output_type="error",
        ename=type(error).__name__,
        evalue=str(error),
        traceback=traceback.format_exception(error),
    )


def shown(kind, data, metadata):
    """Something displayed as an output: texts are lists of lines, pictures base64."""
    return dict(
        output_type=kind, metadata=metadata, data={k: stored(k, v) for k, v in data.items()}
    )


def stored(kind, value):
    """A value of a MIME type as Jupyter stores it."""
    if kind.startswith("text/"):
        return value.splitlines(True)
    if kind.startswith("image/") and isinstance(value, bytes):
        return b64encode(value).decode()
    return value


def new_shell(folder):
    """A shell that keeps no history, for a notebook in this folder."""
    quiet = Config()
    quiet.HistoryManager.enabled = False
    shell = Shell.instance(config=quiet)
    shell.start(folder)
    return shell
