"""Serves a real Ironic, conductor and API in one process, that sends its notifications.

Arguments: the database's address, a folder for the settings, the API's port and the transport's address.
"""

import os
import sys

url, folder, port, transport = sys.argv[1:5]
conf = os.path.join(folder, "ironic.conf")
with open(conf, "w") as file:
    file.write(f"""[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = localhost
my_ip = 127.0.0.1
state_path = {folder}
enabled_hardware_types = fake-hardware
enabled_bios_interfaces = fake,no-bios
enabled_boot_interfaces = fake
enabled_console_interfaces = fake,no-console
enabled_deploy_interfaces = fake
enabled_firmware_interfaces = fake,no-firmware
enabled_inspect_interfaces = fake,no-inspect
enabled_management_interfaces = fake
enabled_network_interfaces = noop
enabled_power_interfaces = fake
enabled_raid_interfaces = fake,no-raid
enabled_rescue_interfaces = fake,no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = fake,no-vendor
default_network_interface = noop
notification_level = info
[api]
host_ip = 127.0.0.1
port = {port}
[conductor]
automated_clean = true
allow_deleting_available_nodes = true
[database]
connection = {url}
[oslo_concurrency]
lock_path = {folder}
[oslo_messaging_notifications]
driver = messagingv2
transport_url = {transport}
[oslo_messaging_rabbit]
amqp_durable_queues = true
""")

from ironic.command import dbsync  # noqa: E402

sys.argv = ["ironic-dbsync", "--config-file", conf, "create_schema"]
try:
    dbsync.main()
except SystemExit as ended:
    if ended.code:
        raise

os.execv(os.path.join(os.path.dirname(sys.executable), "ironic"), ["ironic", "--config-file", conf])
