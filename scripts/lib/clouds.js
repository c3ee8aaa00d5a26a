/** The demo users, as a clouds.yaml for the OpenStack clients. Users and passwords are those of the demo identity service. */

const path = require('node:path');
const { writeFile } = require('./paths');

/** Name of a cloud -> who it signs in as and where: a project, or the whole system. */
const clouds = {
  operator: { user: 'operator', scope: { system_scope: 'all' } },
  'owner-manager': { user: 'owner-manager', scope: project('owner-project') },
  owner: { user: 'owner-member', scope: project('owner-project') },
  'owner-reader': { user: 'owner-reader', scope: project('owner-project') },
  'lessee-manager': { user: 'lessee-manager', scope: project('lessee-project') },
  lessee: { user: 'lessee-member', scope: project('lessee-project') },
  'lessee-reader': { user: 'lessee-reader', scope: project('lessee-project') },
  stranger: { user: 'stranger-admin', scope: project('stranger-project') },
};

/** Passwords of the demo follow from the names; the demo identity service listens on the loopback address only. */
const demoPassword = (user) => `demo-${user}`;

function project(name) {
  return { project_name: name, project_domain_id: 'default' };
}

function cloud(identityUrl, { user, scope }) {
  const auth = {
    auth_url: identityUrl,
    username: user,
    password: demoPassword(user),
    user_domain_id: 'default',
    ...scope,
  };
  // Said, because the stand-alone `baremetal` command takes none for granted.
  return { auth_type: 'password', auth, identity_api_version: 3, interface: 'public' };
}

/**
 * Writes clouds.yaml into the data folder.
 * @returns {string} its path
 */
function writeClouds(dir, identityUrl) {
  const file = path.join(dir, 'clouds.yaml');
  const all = Object.fromEntries(Object.entries(clouds).map(([name, who]) => [name, cloud(identityUrl, who)]));
  writeFile(file, `# Demo users of this data folder.\n${yaml({ clouds: all })}`, 0o600);
  return file;
}

/** Nested objects of plain strings and numbers as YAML. */
function yaml(value, indent = '') {
  return Object.entries(value)
    .map(([key, inner]) =>
      typeof inner === 'object'
        ? `${indent}${key}:\n${yaml(inner, `${indent}  `)}`
        : `${indent}${key}: ${JSON.stringify(inner)}\n`,
    )
    .join('');
}

module.exports = { clouds, demoPassword, writeClouds };
