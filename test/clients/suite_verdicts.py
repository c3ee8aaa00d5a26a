"""Reads what stestr writes (subunit, version 2) on standard input and prints one JSON object: what became of each test.

Each entry: status (success, skip, fail, xfail, uxsuccess) and says, the last lines of why.
"""

import json
import sys

import subunit
from testtools import StreamResult

ENDINGS = ("success", "skip", "fail", "xfail", "uxsuccess")
LONGEST = 600


class Verdicts(StreamResult):
    def __init__(self):
        self.ended = {}
        self.said = {}

    def status(self, test_id=None, test_status=None, file_name=None, file_bytes=None, **_):
        if test_id and file_name in ("traceback", "reason"):
            self.said[test_id] = self.said.get(test_id, b"") + bytes(file_bytes)
        if test_id and test_status in ENDINGS:
            self.ended[test_id] = test_status

    def table(self):
        return {
            test: {"status": status, "says": self.said.get(test, b"").decode(errors="replace").strip()[-LONGEST:]}
            for test, status in sorted(self.ended.items())
        }


verdicts = Verdicts()
subunit.ByteStreamToStreamResult(sys.stdin.buffer, non_subunit_name="stdout").run(verdicts)
print(json.dumps(verdicts.table()))
