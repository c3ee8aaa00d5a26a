"""Does to a bare-metal API what its users do, so that notifications come of it. The same requests go to Ironic and to Temper.

Arguments: the API's address, headers as JSON, and the seconds after each change, in which Temper reads it: its payloads have the values of
the moment of sending.
"""

import json
import sys
import time
import urllib.error
import urllib.request

api, headers, pause = sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3])
NODE = "/v1/nodes/walker"


def uuid(number):
    return f"0d5a6f5e-7e14-4f4b-8a52-{number:012d}"


def ask(method, path, body=None):
    """Asks again while the node is locked."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(api + path, data, method=method, headers={
        "Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.93", **headers})
    for _ in range(120):
        try:
            with urllib.request.urlopen(request) as answer:
                text = answer.read()
                if method != "GET":
                    time.sleep(pause)
                return json.loads(text) if text else None
        except urllib.error.HTTPError as refused:
            says = refused.read().decode()
            if refused.code != 409:
                raise SystemExit(f"{method} {path}: {refused.code} {says}")
        time.sleep(0.5)
    raise SystemExit(f"{method} {path}: still refused: {says}")


def patch(path, field, value, op="add"):
    return ask("PATCH", path, [{"op": op, "path": f"/{field}", "value": value}])


def wait(field, value, path=NODE):
    for _ in range(240):
        found = ask("GET", path)
        if found[field] == value and not found.get("reservation"):
            return
        time.sleep(0.25)
    raise SystemExit(f"{path}: {field} is {found[field]} and never {value}: {found.get('last_error')}")


def provision(target, state):
    ask("PUT", f"{NODE}/states/provision", {"target": target})
    wait("provision_state", state)


def power(target, state):
    ask("PUT", f"{NODE}/states/power", {"target": target})
    wait("target_power_state", None)
    wait("power_state", state)


ask("POST", "/v1/chassis", {"uuid": uuid(1), "description": "rack 7"})
patch(f"/v1/chassis/{uuid(1)}", "extra", {"row": 3})
ask("POST", "/v1/nodes", {
    "uuid": uuid(2), "name": "walker", "driver": "fake-hardware", "chassis_uuid": uuid(1), "resource_class": "walking",
    "network_interface": "noop", "console_interface": "fake", "driver_info": {"ipmi_password": "hunter2", "ipmi_username": "admin"},
    "properties": {"cpu_arch": "x86_64"}, "extra": {"label": "ü"}, "description": "walks"})
patch(NODE, "extra/shelf", "4")
ask("PUT", f"{NODE}/traits", {"traits": ["CUSTOM_GPU"]})
ask("POST", "/v1/ports", {"uuid": uuid(3), "node_uuid": uuid(2), "address": "52:54:00:00:00:01", "physical_network": "rack7"})
ask("POST", "/v1/portgroups", {"uuid": uuid(4), "node_uuid": uuid(2), "name": "bond", "address": "52:54:00:00:00:02"})
patch(f"/v1/ports/{uuid(3)}", "extra", {"slot": 1})
patch(f"/v1/portgroups/{uuid(4)}", "extra", {"pair": True})
ask("POST", "/v1/volume/connectors", {"uuid": uuid(5), "node_uuid": uuid(2), "type": "iqn", "connector_id": "iqn.2017-07.org.example:1"})
ask("POST", "/v1/volume/targets", {
    "uuid": uuid(6), "node_uuid": uuid(2), "volume_type": "iscsi", "volume_id": "volume-1", "boot_index": 0, "properties": {"target_lun": 1}})
provision("manage", "manageable")
power("power off", "power off")
provision("provide", "available")
ask("PUT", f"{NODE}/maintenance", {"reason": "a fan"})
ask("DELETE", f"{NODE}/maintenance")
ask("POST", "/v1/allocations", {"uuid": uuid(7), "name": "walk", "resource_class": "walking"})
wait("state", "active", "/v1/allocations/walk")
patch("/v1/allocations/walk", "extra", {"for": "web"})
ask("PATCH", NODE, [{"op": "add", "path": "/instance_info", "value": {"image_source": "http://images.example.org/a.img", "image_checksum": "0" * 32, "root_gb": 10}}])
provision("active", "active")
ask("PUT", f"{NODE}/states/console", {"enabled": True})
wait("console_enabled", True)
ask("PUT", f"{NODE}/states/console", {"enabled": False})
wait("console_enabled", False)
power("power on", "power on")
power("rebooting", "power on")
power("power off", "power off")
provision("deleted", "available")
ask("POST", "/v1/deploy_templates", {
    "uuid": uuid(8), "name": "CUSTOM_RAID", "steps": [{"interface": "raid", "step": "create_configuration", "args": {}, "priority": 10}]})
patch("/v1/deploy_templates/CUSTOM_RAID", "extra", {"for": "disks"})
ask("DELETE", f"/v1/deploy_templates/{uuid(8)}")
ask("DELETE", f"/v1/volume/connectors/{uuid(5)}")
ask("DELETE", f"/v1/volume/targets/{uuid(6)}")
ask("DELETE", f"/v1/ports/{uuid(3)}")
ask("DELETE", f"/v1/portgroups/{uuid(4)}")
ask("DELETE", NODE)
ask("DELETE", f"/v1/chassis/{uuid(1)}")
print("walked")
