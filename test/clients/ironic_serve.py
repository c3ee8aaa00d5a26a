"""Makes an Ironic database, fills it by Ironic's own objects, serves Ironic's API on it and prints the API's port.

Arguments: the database's address and a folder for the settings. Each line on standard input names a change that is then made
by the same objects, and is answered by `done`; the process ends with its standard input.
"""

import json
import os
import sys
import threading

from cheroot import wsgi

url, folder = sys.argv[1:3]
conf = os.path.join(folder, "ironic.conf")
with open(conf, "w") as file:
    file.write(f"""[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = localhost
my_ip = 127.0.0.1
state_path = {folder}
enabled_hardware_types = fake-hardware,ipmi,redfish
[database]
connection = {url}
[oslo_concurrency]
lock_path = {folder}
""")

from ironic.common import service  # noqa: E402

service.prepare_command(["ironic", "--config-file", conf])

from ironic.api import app  # noqa: E402
from ironic.common import context  # noqa: E402
from ironic.db import migration  # noqa: E402
from ironic import objects  # noqa: E402

migration.create_schema()
objects.register_all()
ctx = context.get_admin_context()


def uuid(number):
    return f"11111111-2222-4333-8444-{number:012d}"


FAKE = {f"{name}_interface": "fake" for name in (
    "bios", "boot", "console", "deploy", "firmware", "inspect", "management", "power", "raid", "rescue", "storage", "vendor")}
FAKE["network_interface"] = "noop"
REDFISH = {"bios_interface": "redfish", "boot_interface": "redfish-virtual-media", "console_interface": "no-console",
           "deploy_interface": "direct", "firmware_interface": "redfish", "inspect_interface": "redfish",
           "management_interface": "redfish", "network_interface": "noop", "power_interface": "redfish",
           "raid_interface": "redfish", "rescue_interface": "no-rescue", "storage_interface": "noop",
           "vendor_interface": "redfish"}
IPMI = {**REDFISH, "bios_interface": "no-bios", "boot_interface": "ipxe", "firmware_interface": "no-firmware",
        "inspect_interface": "agent", "management_interface": "ipmitool", "power_interface": "ipmitool",
        "raid_interface": "no-raid", "vendor_interface": "ipmitool"}


def node(number, name, state, driver="fake-hardware", interfaces=FAKE, **values):
    made = objects.Node(ctx, uuid=uuid(number), name=name, driver=driver, **interfaces,
                        **{"resource_class": "large", "owner": "project-owner", "power_state": "power off", **values})
    made.create()
    made.provision_state = state  # a new one is `enroll` or `available`, whatever is asked
    made.save()
    return made


def fill():
    chassis = objects.Chassis(ctx, uuid=uuid(900), description="rack 7", extra={"row": 3})
    chassis.create()
    for number, state in enumerate(
            ("enroll", "manageable", "available", "error", "clean failed", "deploy failed", "rescue"), 1):
        node(number, f"rest-{number}", state, extra={"label": "ü"}, chassis_id=chassis.id)
    red = objects.Node(ctx, uuid=uuid(20), name="red", driver="redfish", owner="project-owner", lessee="project-lessee",
                       maintenance=True, maintenance_reason="a fan", description="first row", power_state="power on",
                       properties={"cpu_arch": "x86_64", "memory_mb": "4096"},
                       driver_info={"redfish_address": "https://bmc-20.example.org", "redfish_username": "admin",
                                    "redfish_password": "red-secret"},
                       instance_info={"image_source": "http://images.example.org/a.img", "configdrive": "H4sIsecret",
                                      "display_name": "web-1"},
                       driver_internal_info={"agent_url": "https://10.0.0.9:9999", "agent_secret_token": "t0ken",
                                             "is_whole_disk_image": True}, **REDFISH)
    red.create()
    red.provision_state = "active"
    red.save()
    node(21, "ipmi", "manageable", "ipmi", IPMI,
         driver_info={"ipmi_address": "192.0.2.21", "ipmi_username": "root", "ipmi_password": "ipmi-secret"})
    node(22, "anaconda", "manageable", "redfish", {**REDFISH, "deploy_interface": "anaconda"},
         driver_info={"redfish_address": "https://bmc-22.example.org"})
    node(30, "moving", "cleaning", target_provision_state="available")
    node(31, "waiting", "clean wait", target_provision_state="available")
    locked = node(32, "locked", "available")
    objects.Node.reserve(ctx, "conductor-1", locked.id)
    node(33, "other", "available", "snmp")
    node(34, "attached", "active", "redfish", {**REDFISH, "network_interface": "neutron"})
    node(35, "forged", "available", driver_info={"x": {"$secret": uuid(1)}})
    objects.TraitList.create(ctx, red.id, ["CUSTOM_GPU", "HW_CPU_X86_VMX"])
    group = objects.Portgroup(ctx, uuid=uuid(100), node_id=red.id, name="bond0", address="52:54:00:00:00:10", mode="802.3ad",
                              properties={"miimon": 100}, extra={})
    group.create()
    for number, on in ((1, red), (2, red), (3, locked)):
        objects.Port(ctx, uuid=uuid(100 + number), node_id=on.id, address=f"52:54:00:00:00:0{number}", name=f"port-{number}",
                     physical_network="rack7", extra={"slot": number}, portgroup_id=group.id if on is red else None,
                     local_link_connection={"switch_id": "aa:bb:cc:dd:ee:ff", "port_id": f"Eth{number}"}).create()
    objects.VolumeConnector(ctx, uuid=uuid(110), node_id=red.id, type="iqn", connector_id="iqn.2017-07.org.example:1",
                            extra={}).create()
    objects.VolumeTarget(ctx, uuid=uuid(111), node_id=red.id, volume_type="iscsi", volume_id=uuid(700), boot_index=0,
                         properties={"auth_password": "volume-secret"}, extra={}).create()
    given = objects.Allocation(ctx, uuid=uuid(120), name="web", resource_class="large", owner="project-lessee",
                               candidate_nodes=["red", uuid(1)], traits=["CUSTOM_GPU"], extra={"for": "web"})
    given.create()
    given.node_id = red.id
    given.state = "active"
    given.save()
    objects.Allocation(ctx, uuid=uuid(121), name="asking", resource_class="none").create()
    for number, name, steps, values in (
            (130, "CUSTOM_WIPE", [{"interface": "deploy", "step": "erase_devices_metadata", "args": {}, "order": 2},
                                  {"interface": "management", "step": "reset_idrac", "args": {"password": "book-secret"}, "order": 1}],
             {"owner": "project-owner", "description": "before a new tenant", "traits": ["CUSTOM_GPU"]}),
            (131, "CUSTOM_ALL", [{"interface": "power", "step": "reboot", "args": {}, "order": 1}], {"public": True}),
            (132, "CUSTOM_EMPTY", [], {})):
        objects.Runbook(ctx, uuid=uuid(number), name=name, extra={}, steps=steps, **values).create()
    objects.DeployTemplate(ctx, uuid=uuid(140), name="CUSTOM_RAID", extra={"for": "disks"}, steps=[
        {"interface": "raid", "step": "apply_configuration", "args": {"raid_config": {"logical_disks": []}}, "priority": 10}]).create()
    objects.InspectionRule(ctx, uuid=uuid(150), priority=0, description="a rack", scope=None, sensitive=False, phase="main",
                           conditions=[], actions=[{"op": "set-attribute", "args": ["/description", "x"]}]).create()
    objects.NodeInventory(ctx, node_id=red.id, inventory_data={"cpu": {}}, plugin_data={}).create()
    objects.BIOSSettingList.create(ctx, red.id, [{"name": "boot", "value": "uefi"}, {"name": "sriov", "value": "on"}])
    objects.FirmwareComponent(ctx, node_id=red.id, component="bmc", current_version="1.0").create()
    for event in ("one", "two", "three"):
        objects.NodeHistory(ctx, node_id=red.id, event=event, severity="ERROR", event_type="provisioning").create()


def change():
    one = objects.Node.get_by_uuid(ctx, uuid(1))
    one.description = "changed in Ironic"
    one.save()
    both = objects.Node.get_by_uuid(ctx, uuid(2))
    both.description = "changed in Ironic"
    both.save()
    red = objects.Node.get_by_uuid(ctx, uuid(20))
    red.driver_info = {**red.driver_info, "redfish_password": "new-secret"}
    red.save()
    rested = objects.Node.get_by_uuid(ctx, uuid(30))
    rested.provision_state = "available"
    rested.target_provision_state = None
    rested.save()
    objects.Node.get_by_uuid(ctx, uuid(3)).destroy()


def enrol(given):
    """Adds nodes with BMCs that are there: JSON of a list of {number, name, state, driver_info, instance_info, address}."""
    for one in json.loads(given):
        made = node(one["number"], one["name"], one["state"], "redfish", REDFISH, driver_info=one["driver_info"],
                    instance_info=one["instance_info"], maintenance=True, maintenance_reason="moving to Temper", properties={"cpu_arch": "x86_64"},
                    **({"instance_uuid": uuid(one["number"] + 500)} if one["state"] == "active" else {}))
        objects.Port(ctx, uuid=uuid(one["number"] + 100), node_id=made.id, address=one["address"]).create()


fill()
server = wsgi.Server(("127.0.0.1", 0), app.VersionSelectorApplication())
server.prepare()


def read():
    for line in sys.stdin:
        name, *given = line.strip().split(" ", 1)
        {"change": change, "enrol": enrol}[name](*given)
        print("done", flush=True)
    os._exit(0)


threading.Thread(target=read, daemon=True).start()
print(f"port {server.bind_addr[1]}", flush=True)
server.serve()
