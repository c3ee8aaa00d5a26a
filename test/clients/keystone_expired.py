"""Prints a token of a user in a project that ended an hour ago, signed with the keys of a Keystone that we run.

Nobody could wait for a real one to end. Usage: python keystone_expired.py <settings> <user id> <project id>
"""

import datetime
import sys

import keystone.conf
from keystone.token import provider, token_formatters

settings, user, project = sys.argv[1:]
keystone.conf.configure()
keystone.conf.CONF([], project="keystone", default_config_files=[settings])

ended = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
print(token_formatters.TokenFormatter().create_token(
    user, ended.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), [provider.random_urlsafe_str()],
    token_formatters.ProjectScopedPayload, methods=["password"], project_id=project))
