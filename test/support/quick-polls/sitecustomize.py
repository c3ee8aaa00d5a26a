"""Loaded by every Python of a test's clients: `baremetal ... --wait` asks every second, not every two or ten.

Nothing else of the client is changed. Of a life that is typed into it, most of the time passed in these pauses.
"""
import os
import sys

if any(os.path.basename(word) == 'baremetal' for word in sys.orig_argv):
    from ironicclient.v1 import utils

    for arguments in utils.PROVISION_ACTIONS.values():
        if arguments:
            arguments['poll_interval'] = 1
