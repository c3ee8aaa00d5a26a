"""Looks a node up and heartbeats with the real ramdisk's API client, and checks what it gets.

    python ramdisk_walk.py --mac MAC --uuid UUID --certificate PEM URL

Prints `N passed, N failed`; the exit status is 1 if any failed. Starts nothing of the ramdisk's service.
"""

import argparse
import sys

import ramdisk_options  # noqa: F401
from ironic_python_agent import errors, ironic_api_client


class Interface:
    def __init__(self, mac_address):
        self.mac_address = mac_address


parser = argparse.ArgumentParser()
parser.add_argument('--mac', required=True)
parser.add_argument('--uuid', required=True)
parser.add_argument('--certificate', required=True, help='PEM')
parser.add_argument('url')
given = parser.parse_args()
passed = failed = 0


def check(says, truth):
    global passed, failed
    passed, failed = passed + bool(truth), failed + (not truth)
    print(f'{"ok" if truth else "FAILED"}: {says}')


def refused(client, port=9999):
    try:
        client.heartbeat(given.uuid, ('127.0.0.1', port), 'https', given.certificate)
    except errors.HeartbeatError as error:
        return str(error)
    return None


def look_up(client, mac, timeout=10):
    return client.lookup_node({'interfaces': [Interface(mac)]}, timeout=timeout, starting_interval=1)


client = ironic_api_client.APIClient(given.url)
check('the API offers what a ramdisk of today asks for', client._get_ironic_api_version() >= (1, 68))
found = look_up(client, given.mac)
check('the lookup finds the node', found['node']['uuid'] == given.uuid)
config = found['config']
token = config['agent_token']
check('a token of at least 32 characters comes with it', len(token) >= 32)
check('it says how often to heartbeat', isinstance(config['heartbeat_timeout'], int) and config['heartbeat_timeout'] > 0)
check('a second lookup shows no token', look_up(client, given.mac)['config']['agent_token'] == '******')

client.agent_token = token
check('a heartbeat is accepted', refused(client) is None)
check('and again', refused(client) is None)
client.agent_token = 'x' * len(token)
check('one with a wrong token is not', refused(client) is not None)
client.agent_token = None
check('nor one without', refused(client) is not None)

print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
