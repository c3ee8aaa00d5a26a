"""Serves Glance on a free port of the loopback address and prints the port. Ends when its standard input does.

OS_GLANCE_CONFIG_DIR is the folder of its settings. One thread: SQLite refuses a transaction that read before another one
wrote, without waiting for its lock.
"""

import os
import sys
import threading

sys.argv = sys.argv[:1]  # Glance parses it.
# Glance logs to the standard output, which is for the port alone.
port = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

from glance.common import wsgi_app  # noqa: E402
from waitress import create_server  # noqa: E402

server = create_server(wsgi_app.init_app(), host="127.0.0.1", port=0, threads=1, max_request_body_size=2**31)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(server.effective_port, file=port, flush=True)
server.run()
