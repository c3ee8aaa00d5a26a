"""Walks the demo identity service with real clients: keystoneauth sessions and openstacksdk's cloud configuration.

Usage: python identity_walk.py <auth url, without /v3>
"""

import sys

import openstack
from keystoneauth1 import exceptions, session
from keystoneauth1.identity import generic, v3

url = sys.argv[1].rstrip("/")
passed, failed = 0, 0


def check(what, truth):
    global passed, failed
    passed, failed = (passed + 1, failed) if truth else (passed, failed + 1)
    if not truth:
        print(f"not so: {what}")


def password(user, secret=None, **scope):
    return v3.Password(auth_url=f"{url}/v3", username=user, password=secret or f"demo-{user}",
                       user_domain_name="Default", **scope)


def project(user, name, **more):
    return password(user, project_name=name, project_domain_id="default", **more)


def access(auth):
    return auth.get_access(session.Session())


def validate(asker, token, **headers):
    return session.Session(auth=asker).get(f"{url}/v3/auth/tokens", raise_exc=False,
                                           headers={"X-Subject-Token": token, **headers})


def refused(auth, kind=exceptions.Unauthorized):
    try:
        access(auth)
    except kind:
        return True
    return False


member = access(project("owner-member", "owner-project"))
check("a password and a project give a project token", member.project_scoped and member.project_name == "owner-project")
check("roles come expanded", sorted(member.role_names) == ["member", "reader"])
check("a token lives about a day", not member.will_expire_soon(23 * 3600))

system = access(password("operator", system_scope="all"))
check("system scope gives a system token", system.system_scoped and not system.project_scoped)
check("an admin holds all four roles", sorted(system.role_names) == ["admin", "manager", "member", "reader"])
check("a system token has the catalog", system.service_catalog.url_for(service_type="baremetal") is not None)

# Without /v3, so that the unversioned document (300) is read first.
found = generic.Password(auth_url=url, username="owner-member", password="demo-owner-member", user_domain_id="default",
                         project_name="owner-project", project_domain_name="Default")
check("the catalog leads to bare metal",
      found.get_endpoint_data(session.Session(), service_type="baremetal", interface="public", discover_versions=False).url)
check("a cloud of system scope logs in", openstack.connect(
    auth_url=url, username="operator", password="demo-operator", user_domain_name="Default",
    system_scope="all", region_name="demo").config.get_session().get_token() is not None)

credential = v3.ApplicationCredential(auth_url=f"{url}/v3", application_credential_name="owner-member-app",
                                      application_credential_secret="demo-owner-member-app",
                                      username="owner-member", user_domain_id="default")
held = access(credential)
check("an application credential brings its project", held.project_name == "owner-project")
check("an application credential names itself", held.application_credential["name"] == "owner-member-app")

again = access(v3.Token(auth_url=f"{url}/v3", token=member.auth_token, project_name="owner-project", project_domain_id="default"))
check("a token can be exchanged, and ends no later", again.expires == member.expires and again.auth_token != member.auth_token)

service = project("temper", "service")
reply = validate(service, member.auth_token)
check("a service validates a token", reply.status_code == 200 and reply.json()["token"]["user"]["name"] == "owner-member")
check("validation has the catalog unless told not to", "catalog" in reply.json()["token"])
limited = access(v3.ApplicationCredential(auth_url=f"{url}/v3", application_credential_name="owner-member-nodes-only",
                                          application_credential_secret="demo-owner-member-nodes-only",
                                          username="owner-member", user_domain_id="default"))
check("access rules are hidden from services that do not know them", validate(service, limited.auth_token).status_code == 404)
reply = validate(service, limited.auth_token, **{"OpenStack-Identity-Access-Rules": "1"})
check("access rules are shown to services that do", len(reply.json()["token"]["application_credential"]["access_rules"]) == 2)
check("a member may not ask about others", validate(project("lessee-member", "lessee-project"), member.auth_token).status_code == 403)
check("an unknown token is not found", validate(service, "unknown").status_code == 404)

session.Session(auth=service).delete(f"{url}/v3/auth/tokens", headers={"X-Subject-Token": again.auth_token})
check("a revoked token is not found", validate(service, again.auth_token).status_code == 404)
check("revoking one token leaves the others", validate(service, member.auth_token).status_code == 200)

check("a wrong password is refused", refused(project("owner-member", "owner-project", secret="wrong")))
check("an unknown user is refused", refused(project("nobody", "owner-project")))
check("a foreign project is refused", refused(project("owner-member", "lessee-project")))
check("system scope without a system role is refused", refused(password("owner-member", system_scope="all")))
check("a wrong secret is refused", refused(v3.ApplicationCredential(
    auth_url=f"{url}/v3", application_credential_name="owner-member-app", application_credential_secret="wrong",
    username="owner-member", user_domain_id="default")))
check("a revoked token cannot be exchanged", refused(v3.Token(auth_url=f"{url}/v3", token=again.auth_token)))

print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
