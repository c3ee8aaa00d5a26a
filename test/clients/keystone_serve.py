"""Serves Keystone on a free port of the loopback address and prints the port. Ends when its standard input does.

Its settings are named by OS_KEYSTONE_CONFIG_FILES. One thread: SQLite refuses a transaction that read before another one
wrote, without waiting for its lock, and Keystone answers 500 then.
"""

import os
import sys
import threading

from keystone.server import wsgi
from waitress import create_server

server = create_server(wsgi.initialize_public_application(), host="127.0.0.1", port=0, threads=1)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(server.effective_port, flush=True)
server.run()
