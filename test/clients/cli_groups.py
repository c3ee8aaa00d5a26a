"""The baremetal command in one process: command lines come in as JSON, one a line, and what each came to goes out.

Starting Python and loading the client takes far longer than a command does, and there are many.
"""

import contextlib
import io
import json
import sys

from ironicclient import shell


def run(args):
    # The client looks there for the cloud, beside what it is called with.
    sys.argv = ["baremetal", *args]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = shell.App().run(args)
        except SystemExit as ended:
            # What argparse does with words it does not know.
            status = ended.code if isinstance(ended.code, int) else 1
        except Exception as failure:  # a client that dies is an outcome too
            status, _ = 70, err.write(f"{type(failure).__name__}: {failure}")
    return {"status": status or 0, "out": out.getvalue(), "err": err.getvalue()}


def main():
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
