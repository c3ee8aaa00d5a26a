"""Walks emulated BMCs with the sushy library, the one Ironic uses, and checks what it sees on the way.

    python sushy_walk.py --control http://127.0.0.1:PORT [--secure]      every BMC of a rack
    python sushy_walk.py --user U --password P URL [URL...]              these BMCs, e.g. http://127.0.0.1:PORT/bmc/3

Needs: pip install sushy. Changes the BMCs it walks. Prints `N passed, N failed`; the exit status is 1 if any failed.
"""

import argparse
import json
import logging
import sys
import time
import urllib.parse
import urllib.request

import sushy
from sushy import auth, exceptions

DEADLINE = 60
counts = {'passed': 0, 'failed': 0}


def check(where, what, act):
    """Runs one check. It fails by raising or by returning False."""
    try:
        good = act() is not False
        note = ''
    except Exception as error:  # every way to fail is reported the same
        good, note = False, f': {type(error).__name__}: {error}'
    counts['passed' if good else 'failed'] += 1
    if not good:
        print(f'FAILED {where}: {what}{note}')
    return good


def until(read, wanted):
    """Reads until the value is the wanted one; False when the deadline passes first."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if read() == wanted:
            return True
        time.sleep(0.1)
    return False


def retried(act):
    """What Ironic does with BMCs that refuse settings during the self-test: tries again a little later."""
    end = time.monotonic() + DEADLINE
    while True:
        try:
            return act()
        except exceptions.HTTPError as error:
            if 'POST' not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.2)


def connect(address, authentication, **more):
    """As Ironic does: scheme and authority make the URL, the path (if any) the prefix of the service root."""
    url = urllib.parse.urlparse(address)
    prefix = url.path.rstrip('/')
    root = f'{prefix}/redfish/v1/'
    return sushy.Sushy(f'{url.scheme}://{url.netloc}', root_prefix=root, verify=False, auth=authentication,
                       server_side_retries=1, server_side_retries_delay=1, **more)


class Walk:
    def __init__(self, address, user, password):
        self.address, self.user, self.password = address, user, password

    def check(self, what, act):
        return check(self.address, what, act)

    def run(self):
        self.authentication()
        session = auth.SessionOrBasicAuth(self.user, self.password)
        self.root = connect(self.address, session)
        self.system = self.root.get_system()
        for part in (self.service_root, self.inventory, self.managers, self.chassis, self.power, self.boot, self.bios,
                     self.secure_boot, self.virtual_media, self.storage, self.volumes, self.update, self.tasks,
                     self.manager_reset):
            check(self.address, part.__name__, part)
        session.close()

    def authentication(self):
        basic = connect(self.address, auth.BasicAuth(self.user, self.password))
        self.check('basic auth reads systems', lambda: len(basic.get_system_collection().get_members()) == 1)
        session = auth.SessionAuth(self.user, self.password)
        root = connect(self.address, session)
        self.check('session has a token and a place', lambda: bool(session.get_session_key() and session.get_session_resource_id()))
        service = root.get_session_service()
        before = len(service.sessions.members_identities)
        session.close()
        service = basic.get_session_service()
        self.check('closing removes the session', lambda: len(service.sessions.members_identities) == before - 1)
        self.check('a wrong password is refused', self.wrong_password)

    def wrong_password(self):
        try:
            connect(self.address, auth.SessionAuth(self.user, self.password + 'x'))
        except exceptions.AccessError:
            return True
        return False

    def service_root(self):
        prefix = urllib.parse.urlparse(self.address).path.rstrip('/')
        self.check('root names a version', lambda: bool(self.root.redfish_version))
        self.check('root has an id', lambda: bool(self.root.uuid and self.root.identity))
        self.check('paths carry the prefix', lambda: self.system.path.startswith(f'{prefix}/redfish/v1/Systems/'))
        self.check('system is reached by its path', lambda: self.root.get_system(self.system.path).uuid == self.system.uuid)

    def inventory(self):
        system = self.system
        self.check('system is described', lambda: all([system.manufacturer, system.model, system.serial_number, system.uuid, system.bios_version]))
        self.check('memory summary', lambda: system.memory_summary.size_gib > 0)
        self.check('processors', lambda: system.processors.summary.count > 0 and len(system.processors.get_members()) > 0)
        nics = system.ethernet_interfaces
        self.check('network interfaces have addresses', lambda: all(nic.mac_address for nic in nics.get_members()))
        self.check('network summary', lambda: len(nics.summary) == len(nics.get_members()) == 2)
        if system.indicator_led is not None:
            system.set_indicator_led(sushy.INDICATOR_LED_BLINKING)
            system.refresh()
            self.check('indicator blinks', lambda: system.indicator_led == sushy.INDICATOR_LED_BLINKING)
            system.set_indicator_led(sushy.INDICATOR_LED_OFF)

    def managers(self):
        manager = self.system.managers[0]
        self.check('manager has a version', lambda: bool(manager.firmware_version))
        self.check('manager is the only one', lambda: [m.path for m in self.root.get_manager_collection().get_members()] == [manager.path])
        self.check('manager leads back to the system', lambda: manager.systems[0].path == self.system.path)
        self.check('manager has a network interface', lambda: len(manager.ethernet_interfaces.get_members()) == 1)
        self.check('manager can be reset', lambda: len(manager.get_allowed_reset_manager_values()) > 0)
        try:
            manager.set_datetime(datetime='2030-01-01T00:00:00Z', datetime_local_offset='+00:00')
        except exceptions.HTTPError as error:
            # sushy sends no If-Match here, so vendors that insist on one have to refuse it.
            self.check('manager insists on If-Match', lambda: error.status_code == 428)
            return
        manager.refresh()
        self.check('manager takes a time', lambda: manager.datetime.startswith('2030-01-01'))

    def chassis(self):
        chassis = self.system.chassis[0]
        self.check('chassis leads to system and manager', lambda: chassis.systems[0].path == self.system.path and len(chassis.managers) == 1)
        self.check('power supplies', lambda: len(chassis.power.power_supplies) == 2)
        self.check('temperatures and fans', lambda: len(chassis.thermal.temperatures) == 2 and len(chassis.thermal.fans) == 4)
        # Some vendors list the adapters of a host only while it runs.
        was_off = self.state() == sushy.POWER_STATE_OFF
        if was_off:
            self.reset(sushy.RESET_ON, sushy.POWER_STATE_ON)
        self.check('network adapter has a version', self.adapter_version)
        if was_off:
            self.reset(sushy.RESET_FORCE_OFF, sushy.POWER_STATE_OFF)

    def adapter_version(self):
        # By a connection of its own: at each refresh sushy reads again all that it has seen below a system.
        system = connect(self.address, auth.BasicAuth(self.user, self.password)).get_system()
        return bool(system.chassis[0].network_adapters.get_members()[0].controllers[0].firmware_package_version)

    def state(self):
        self.system.refresh()
        return self.system.power_state

    def reset(self, value, reaches):
        self.system.reset_system(value)
        return until(self.state, reaches)

    def power(self):
        on, off = sushy.POWER_STATE_ON, sushy.POWER_STATE_OFF
        self.check('On is offered', lambda: sushy.RESET_ON in self.system.get_allowed_reset_system_values())
        if self.state() != off:
            self.check('power goes off first', lambda: self.reset(sushy.RESET_FORCE_OFF, off))
        self.system.reset_system(sushy.RESET_ON)
        self.check('power shows PoweringOn on the way', lambda: self.state() == sushy.POWER_STATE_POWERING_ON)
        self.check('power comes on', lambda: until(self.state, on))
        self.system.reset_system(sushy.RESET_FORCE_OFF)
        self.check('power shows PoweringOff on the way', lambda: self.state() == sushy.POWER_STATE_POWERING_OFF)
        self.check('power goes off', lambda: until(self.state, off))
        self.check('power comes on again', lambda: self.reset(sushy.RESET_ON, on))
        self.check('a restart ends in on', lambda: self.reset(sushy.RESET_FORCE_RESTART, sushy.POWER_STATE_POWERING_OFF) and until(self.state, on))
        self.check('a polite shutdown works', lambda: self.reset(sushy.RESET_GRACEFUL_SHUTDOWN, off))

    def boot_now(self):
        self.system.refresh()
        return self.system.boot.target, self.system.boot.enabled

    def boot(self):
        once = sushy.BOOT_SOURCE_ENABLED_ONCE
        mode = {} if self.system.boot.mode is None else {'mode': sushy.BOOT_SOURCE_MODE_UEFI}
        for target in (sushy.BOOT_SOURCE_TARGET_PXE, sushy.BOOT_SOURCE_TARGET_HDD):
            retried(lambda: self.system.set_system_boot_options(target, enabled=once, **mode))
            self.check(f'boot from {target.value} once', lambda: self.boot_now() == (target, once))
        if mode:
            self.check('boot mode is UEFI', lambda: self.system.boot.mode == sushy.BOOT_SOURCE_MODE_UEFI)
        self.restart()
        self.check('a boot uses the one-time override up', lambda: self.boot_now()[1] == sushy.BOOT_SOURCE_ENABLED_DISABLED)

    def restart(self):
        """Off (if need be) and on, and past the self-test where the BMC tells."""
        if self.state() != sushy.POWER_STATE_OFF:
            self.reset(sushy.RESET_FORCE_OFF, sushy.POWER_STATE_OFF)
        return self.reset(sushy.RESET_ON, sushy.POWER_STATE_ON)

    def bios(self):
        bios = self.system.bios
        registry = bios.get_attribute_registry()
        entries = registry.registry_entries.attributes
        self.check('registry describes every attribute', lambda: {e.name for e in entries} == set(bios.attributes))
        chosen = next(e for e in entries if e.attribute_type == 'Enumeration' and 'irtual' in e.name)
        value = next(v['ValueName'] for v in chosen.allowable_values if v['ValueName'] != bios.attributes[chosen.name])
        self.check('settings apply on reset', lambda: sushy.APPLY_TIME_ON_RESET in bios.supported_apply_times)
        retried(lambda: bios.set_attribute(chosen.name, value, apply_time=sushy.APPLY_TIME_ON_RESET))
        self.check('a written setting is pending', lambda: bios.pending_attributes.get(chosen.name) == value)
        bios.refresh()
        self.check('and not yet current', lambda: bios.attributes[chosen.name] != value)
        self.restart()
        bios.refresh()
        self.check('a boot applies it', lambda: bios.attributes[chosen.name] == value)
        retried(bios.reset_bios)
        self.restart()
        bios.refresh()
        self.check('a factory reset restores it', lambda: bios.attributes[chosen.name] == chosen.default_value)
        self.check('an unknown setting is refused', lambda: self.refused(lambda: retried(lambda: bios.set_attribute('NoSuchSetting', 1))))

    def refused(self, act):
        try:
            act()
        except exceptions.HTTPError as error:
            return 400 <= error.status_code < 500
        return False

    def secure_boot(self):
        mode = self.system.boot.mode
        if mode is not None and mode != sushy.BOOT_SOURCE_MODE_UEFI:
            retried(lambda: self.system.set_system_boot_options(mode=sushy.BOOT_SOURCE_MODE_UEFI))
        secure = self.system.secure_boot
        retried(lambda: secure.set_enabled(True))
        secure.refresh()
        self.check('secure boot is wanted', lambda: secure.enabled is True)
        self.check('and not yet there', lambda: secure.current_boot == sushy.SECURE_BOOT_DISABLED)
        self.restart()
        secure.refresh()
        self.check('a boot brings it', lambda: secure.current_boot == sushy.SECURE_BOOT_ENABLED)
        self.check('keys can be reset', lambda: len(secure.get_allowed_reset_keys_values()) == 3)
        retried(lambda: secure.reset_keys(sushy.SECURE_BOOT_RESET_KEYS_DELETE_ALL))
        secure.refresh()
        self.check('without keys it is in setup mode', lambda: secure.mode == sushy.SECURE_BOOT_MODE_SETUP)
        retried(lambda: secure.reset_keys(sushy.SECURE_BOOT_RESET_KEYS_TO_DEFAULT))
        retried(lambda: secure.set_enabled(False))

    def virtual_media(self):
        try:
            collection = self.system.virtual_media
        except exceptions.MissingAttributeError:
            collection = self.system.managers[0].virtual_media
        slot = next(m for m in collection.get_members() if sushy.VIRTUAL_MEDIA_CD in m.media_types)
        image = 'http://127.0.0.1:9/images/boot.iso'
        self.check('slot is empty', lambda: not slot.inserted)
        slot.insert_media(image)
        slot.refresh()
        self.check('media are inserted', lambda: slot.inserted and slot.image == image and slot.write_protected)
        slot.eject_media()
        slot.refresh()
        self.check('media are ejected', lambda: not slot.inserted and not slot.image)

    def storage(self):
        members = self.system.storage.get_members()
        self.check('two controllers', lambda: len(members) == 2)
        self.check('drives have sizes', lambda: all(d.capacity_bytes > 0 for m in members for d in m.drives))
        self.check('simple storage sees them too', lambda: self.system.simple_storage.max_size_bytes > 0)

    def raid(self):
        """The RAID controller, read afresh: sushy stumbles over cached members that were deleted meanwhile."""
        for member in self.root.get_system(self.system.path).storage.get_members():
            try:
                types = member.controllers.get_members()[0].raid_types
            except exceptions.MissingAttributeError:
                types = member.storage_controllers[0].raid_types
            if types:
                return member
        raise AssertionError('no RAID controller')

    def volume_count(self):
        return len(self.raid().volumes.members_identities)

    def volumes(self):
        raid = self.raid()
        drives = [{'@odata.id': drive.path} for drive in raid.drives[:2]]
        payload = {'RAIDType': 'RAID1', 'Name': 'walk', 'Links': {'Drives': drives}}
        monitor = raid.volumes.create(dict(payload))
        self.check('a volume is made by a task', lambda: monitor.get_task().task_state == sushy.TASK_STATE_RUNNING)
        monitor.wait(DEADLINE)
        self.check('the task ends with the volume', lambda: monitor.response.status_code == 201)
        volume = self.raid().volumes.get_members()[0]
        self.check('the volume is there', lambda: volume.name == 'walk' and volume.raid_type == sushy.RAID_TYPE_RAID1)
        self.check('its drives are taken', lambda: self.refused(lambda: raid.volumes.create(dict(payload))))
        # iDRAC refuses an apply time here; sushy repeats without it.
        volume.delete(apply_time=sushy.APPLY_TIME_IMMEDIATE)
        self.check('the volume is deleted', lambda: until(self.volume_count, 0))
        made = self.raid().volumes.create(dict(payload), apply_time=sushy.APPLY_TIME_IMMEDIATE)
        self.check('a create can wait for its task', lambda: self.volume_count() == 1)
        self.check('and it answers with the volume', lambda: made.name == 'walk')
        self.raid().volumes.get_members()[0].delete().wait(DEADLINE)
        self.check('which is deleted too', lambda: self.volume_count() == 0)

    def update(self):
        service = self.root.get_update_service()
        inventory = {s.identity: s for s in service.firmware_inventory.get_members()}
        self.check('inventory lists three components', lambda: set(inventory) == {'BIOS', 'BMC', 'NIC.1'})
        monitor = service.simple_update('http://127.0.0.1:9/firmware/bios-9.8.7.bin', targets=[inventory['BIOS'].path])
        self.check('a BIOS update waits for a boot', lambda: monitor.check_is_processing and monitor.get_task().task_state == sushy.TASK_STATE_STARTING)
        self.restart()
        monitor.wait(DEADLINE)
        self.system.refresh()
        self.check('and then brings the new version', lambda: self.system.bios_version == '9.8.7')
        monitor = service.simple_update('http://127.0.0.1:9/firmware/nic-4.5.6.bin')
        self.restart()
        monitor.wait(DEADLINE)
        software = next(s for s in service.firmware_inventory.get_members() if s.identity == 'NIC.1')
        software.refresh()
        self.check('an adapter is told by the name of its image', lambda: software.version == '4.5.6')

    def tasks(self):
        service = self.root.get_task_service()
        self.check('finished tasks are listed', lambda: len(service.tasks.get_members()) >= 4)
        self.check('they are completed and fine', lambda: all(
            t.task_state == sushy.TASK_STATE_COMPLETED and t.task_status == sushy.HEALTH_OK for t in service.tasks.get_members()))

    def manager_reset(self):
        manager = self.system.managers[0]
        before = self.root._auth.get_session_key()
        manager.reset_manager(manager.get_allowed_reset_manager_values().pop())
        self.check('the BMC goes away', lambda: self.silent(manager))
        self.check('the BMC comes back', lambda: until(lambda: self.silent(manager), False))
        manager.refresh()
        self.check('with a new session', lambda: self.root._auth.get_session_key() != before)

    def silent(self, manager):
        try:
            manager.refresh()
            return False
        except (exceptions.ConnectionError, exceptions.ServerSideError):
            return True


def rack_of(control, secure):
    with urllib.request.urlopen(f'{control}/control/bmcs') as answer:
        listed = json.load(answer)['bmcs']
    return [(b['secureAddress' if secure else 'address'], b['username'], b['password']) for b in listed]


def main():
    parser = argparse.ArgumentParser(description='Walks emulated BMCs with sushy.')
    parser.add_argument('urls', nargs='*', help='addresses of BMCs, with their path if they have one')
    parser.add_argument('--user')
    parser.add_argument('--password')
    parser.add_argument('--control', help='the control address of a rack: walks all of its BMCs')
    parser.add_argument('--secure', action='store_true', help='with --control: use the HTTPS addresses')
    given = parser.parse_args()
    if not given.control and not (given.urls and given.user and given.password):
        parser.error('give --control, or addresses with --user and --password')
    logging.disable(logging.CRITICAL)
    walks = rack_of(given.control, given.secure) if given.control else [(u, given.user, given.password) for u in given.urls]
    for address, user, password in walks:
        check(address, 'the walk reaches its end', Walk(address, user, password).run)
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts['failed'] else 0


if __name__ == '__main__':
    sys.exit(main())
