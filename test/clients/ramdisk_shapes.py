"""Prints, as one JSON object, how the real ramdisk puts commands and refusals on the wire. Runs none of them."""

import json
import sys

import ramdisk_options  # noqa: F401
from ironic_python_agent import encoding, errors
from ironic_python_agent.extensions import base


def never():
    raise AssertionError('nothing is to be run here')


def ended(result, name, status, value=None, error=None):
    result.command_name, result.command_status = name, status
    result.command_result, result.command_error = value, error
    return result


step = {'interface': 'deploy', 'step': 'erase_devices', 'args': {}, 'priority': 10}
version = errors.VersionMismatch({'generic': '2'}, {'generic': '1'})
shapes = {
    # Constructed and not started: its thread never runs.
    'running': base.AsyncCommandResult('execute_clean_step', {'step': step}, never),
    'succeeded': ended(base.AsyncCommandResult('execute_clean_step', {}, never), 'execute_clean_step',
                       base.AgentCommandStatus.SUCCEEDED, {'clean_result': None, 'clean_step': step}),
    'failed': ended(base.AsyncCommandResult('execute_clean_step', {}, never), 'execute_clean_step',
                    base.AgentCommandStatus.FAILED, None, errors.CommandExecutionError('the disk is on fire')),
    'mismatch': ended(base.AsyncCommandResult('execute_clean_step', {}, never), 'execute_clean_step',
                      base.AgentCommandStatus.VERSION_MISMATCH, None, version),
    'steps': base.SyncCommandResult('get_clean_steps', {}, True, {
        'clean_steps': {'GenericHardwareManager': [
            {'interface': 'deploy', 'step': 'erase_devices', 'priority': 10, 'reboot_requested': False, 'abortable': True}]},
        'hardware_manager_version': {'generic_hardware_manager': '1.2'}}),
    'text': base.SyncCommandResult('sync', {}, True, 'a word'),
    'nothing': base.SyncCommandResult('sync', {}, True, None),
    'wrong': base.SyncCommandResult('standby.sync', {}, False, errors.CommandExecutionError('it hurts')),
}
busy = errors.AgentIsBusy('execute_clean_step')
document = {'commands': shapes, 'busy': {'status': busy.status_code, 'text': str(busy)}}
sys.stdout.write(encoding.RESTJSONEncoder().encode(document))
