"""Listens for Ironic's notifications by oslo.messaging, as its users do, and prints each as a line of JSON.

Arguments: the transport's address. The process ends with its standard input.
"""

import json
import os
import sys

import oslo_messaging
from oslo_config import cfg

conf = cfg.ConfigOpts()
conf([])
transport = oslo_messaging.get_notification_transport(conf, sys.argv[1])
conf.set_override("amqp_durable_queues", True, group="oslo_messaging_rabbit")
target = oslo_messaging.Target(topic="ironic_versioned_notifications", exchange="ironic")


class Endpoint:
    def told(self, priority):
        def tell(context, publisher_id, event_type, payload, metadata):
            print(json.dumps({"priority": priority, "context": context, "publisher_id": publisher_id,
                              "event_type": event_type, "payload": payload, "metadata": metadata}), flush=True)
        return tell

    def __init__(self):
        self.info = self.told("info")
        self.warn = self.told("warn")
        self.error = self.told("error")


listener = oslo_messaging.get_notification_listener(transport, [target], [Endpoint()], executor="threading")
# One after the other, in the order of the queue.
conf.set_override("executor_thread_pool_size", 1)
listener.start()
print("listening", flush=True)
sys.stdin.read()
os._exit(0)
