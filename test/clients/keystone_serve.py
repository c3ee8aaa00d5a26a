"""Serves Keystone on a free port of the loopback address and prints the port. Ends when its standard input does.

Its settings are named by OS_KEYSTONE_CONFIG_FILES.
"""

import os
import sys
import threading

from keystone.server import wsgi
from waitress import create_server

server = create_server(wsgi.initialize_public_application(), host="127.0.0.1", port=0, threads=4)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(server.effective_port, flush=True)
server.run()
