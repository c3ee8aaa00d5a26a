"""Drives a running system with openstacksdk as one of the clouds, one word of the command line at a time, and prints JSON.

Usage: sdk_walk.py CLOUD nodes
       sdk_walk.py CLOUD node NAME
       sdk_walk.py CLOUD provision NAME TARGET [RUNBOOK]
"""

import json
import sys

import openstack
from openstack import exceptions

WAIT_SECONDS = 240


def told(node):
    return {
        "name": node.name,
        "provision_state": node.provision_state,
        "power_state": node.power_state,
        "owner": node.owner,
        "lessee": node.lessee,
        "is_maintenance": node.is_maintenance,
        "driver_info": node.driver_info,
    }


def nodes(baremetal):
    return [node.name for node in baremetal.nodes()]


def node(baremetal, name):
    return told(baremetal.get_node(name))


# The SDK knows where it waits for most targets, but not for this one.
RESTS = {"service": "active"}


def provision(baremetal, name, target, runbook=None):
    """Sets a provision state and waits as the SDK does."""
    more = {"runbook": runbook} if runbook else {}
    rests = RESTS.get(target)
    baremetal.get_node(name).set_provision_state(baremetal, target, wait=rests is None, timeout=WAIT_SECONDS, **more)
    if rests:
        baremetal.wait_for_nodes_provision_state([name], rests, timeout=WAIT_SECONDS)
    return node(baremetal, name)


WORDS = {"nodes": nodes, "node": node, "provision": provision}


def main(cloud, word, *args):
    with openstack.connect(cloud=cloud) as connection:
        try:
            answer = {"is": WORDS[word](connection.baremetal, *args)}
        except exceptions.HttpException as refused:
            answer = {"refused": refused.status_code, "says": str(refused)}
    print(json.dumps(answer))


main(*sys.argv[1:])
