"""The OpenStack command line clients, loaded once: `forked_clients.py FOLDER` puts commands of their names into the folder.

Each command hands its arguments, environment, folder and open files to this process, which forks and calls the client's own entry
point. A client takes a second to load its modules, and the tests type hundreds of commands. It ends when its input does.
"""
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
from importlib.metadata import entry_points

folder, sys.argv = sys.argv[1], ['baremetal']  # the client keeps the name as it is loaded

ENTRIES = {'baremetal': ('ironicclient.shell', 'main'), 'metalsmith': ('metalsmith._cmd', 'main')}
LOADED = ('openstack.baremetal.v1', 'keystoneauth1.plugin', 'cliff.formatter.list', 'cliff.formatter.show')

COMMAND = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([{name!r}, sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(server, [len(request).to_bytes(4, 'big')], [0, 1, 2])
    server.sendall(request)
    status = server.recv(1)
sys.exit(status[0] if status else 'the client died')
"""


def load():
    """What each command would load, and the one change: `--wait` asks every second, not every two or ten."""
    for point in [point for group in LOADED for point in entry_points(group=group)]:
        try:
            point.load()
        except Exception:  # an extra that is not installed
            pass
    for module, _ in ENTRIES.values():
        importlib.import_module(module)
    actions = importlib.import_module('ironicclient.v1.utils').PROVISION_ACTIONS
    for arguments in filter(None, actions.values()):
        arguments['poll_interval'] = 1


def write_commands(address):
    """Beside the forked ones those that run as they are, for the folder to be a PATH."""
    environment = os.path.dirname(sys.executable)
    for name in os.listdir(environment):
        if name.startswith('python'):
            write(name, f'#!/bin/sh\nexec {os.path.join(environment, name)} "$@"\n')
        elif name not in ENTRIES:
            os.symlink(os.path.join(environment, name), os.path.join(folder, name))
    for name in ENTRIES:
        write(name, COMMAND.format(python=sys.executable, address=address, name=name))


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    os.chmod(path, 0o755)


def serve(connection):
    """One command, in a process of its own."""
    size, files, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile('rb') as stream:
        name, words, environment, directory = json.loads(stream.read(int.from_bytes(size, 'big')))
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [name, *words]
    connection.sendall(bytes([status_of(name, words)]))


def status_of(name, words):
    module, function = ENTRIES[name]
    try:
        status = getattr(importlib.import_module(module), function)(words)
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return (status or 0) & 255


def main():
    address = os.path.join(folder, 'socket')
    listener = socket.socket(socket.AF_UNIX)
    os.umask(0o077)
    listener.bind(address)
    os.umask(0o022)
    listener.listen(64)
    load()
    write_commands(address)
    print('ready', flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            try:
                serve(connection)
            finally:
                os._exit(0)
        connection.close()
    shutil.rmtree(folder, ignore_errors=True)


main()
