/** Files of a release: packages, chart, bill of materials, notes, provenance, checksums and a signature over them. */

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { makeClient } = require('./client');
const { makePackage } = require('./package');
const { root, temporaryDir } = require('./paths');
const { billOf, productionModules } = require('./programs');
const { run } = require('./run');
const { Stop } = require('./say');

const { name, version } = require('../../package.json');

/**
 * @typedef {{epoch: number, revision: string, commit: string}} Commit `epoch` is its time in seconds, `revision` what follows
 *   the version in names of files
 */

const nameOf = ({ revision }) => `${name}-${version}${revision}`;

/** The chart as `helm package` lays it out, with one time and no names of accounts. */
async function makeChart(out, { epoch, revision }) {
  const file = path.join(out, `temper-chart-${version}${revision}.tgz`);
  const plain = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--format=ustar'];
  const options = [...plain, '--mode=u=rwX,go=rX', '--use-compress-program=gzip -n'];
  const made = await run('tar', [...options, '-cf', file, 'temper'], { cwd: path.join(root, 'deploy', 'helm') });
  if (!made.ok) throw new Stop(`tar does not pack the chart: ${made.reason}`);
  return [file];
}

async function makeBill(out, of) {
  const file = path.join(out, `${nameOf(of)}.sbom.cdx.json`);
  const packed = new Set(await productionModules());
  fs.writeFileSync(file, await billOf({ name, version }, (folder) => packed.has(folder), of.epoch));
  return [file];
}

/** Parts by name, in the order in which they are made: the quick ones fail first. */
const makers = {
  chart: makeChart,
  sbom: makeBill,
  client: makeClient,
  deb: async (out, of) => [await makePackage('deb', out, of)],
  rpm: async (out, of) => [await makePackage('rpm', out, of)],
};

/** The part of the changelog about this version. @throws Stop if it has none */
function notesOf(changelog, heading) {
  const part = changelog.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (!part) throw new Stop(`CHANGELOG.md has no part "## ${heading}". Write it, commit it, and start again.`);
  return `# Temper ${version}\n\n${part.slice(heading.length).trim()}\n`;
}

const digestOf = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
const named = (file) => ({ name: path.basename(file), digest: { sha256: digestOf(file) } });

/** A statement about who built what of which sources: https://slsa.dev/spec/v1.0/provenance. It names no machine and no hour. */
function provenance(files, { commit, epoch, revision }) {
  const lock = { name: 'package-lock.json', digest: { sha256: digestOf(path.join(root, 'package-lock.json')) } };
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(named),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:temper:npm-run-release:1',
        externalParameters: { version: `${version}${revision}`, sourceDateEpoch: epoch },
        internalParameters: { node: process.versions.node, architecture: process.arch },
        resolvedDependencies: [{ name: 'source', digest: { gitCommit: commit } }, lock],
      },
      runDetails: { builder: { id: 'urn:temper:npm-run-release' } },
    },
  };
}

const byName = (one, other) => (path.basename(one) < path.basename(other) ? -1 : 1);
const sums = (files) => files.map((file) => `${digestOf(file)}  ${path.basename(file)}\n`).join('');

/** What a signature is for: a signature of the same key over other files is none of a release. */
const namespace = 'temper-release';

/** @param {string} key private key of OpenSSH; an agent or a prompt unlocks it */
async function sign(file, key) {
  if (!fs.existsSync(key)) throw new Stop(`There is no key ${key}. \`ssh-keygen -t ed25519 -f KEY\` makes one.`);
  const made = await run('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', namespace, file]);
  if (!made.ok) throw new Stop(`ssh-keygen does not sign ${path.basename(file)} with ${key}: ${made.reason}`);
  return `${file}.sig`;
}

/**
 * Makes the release of what is built in `dist`: the same bytes of the same commit.
 * @param {string} out folder, which is emptied before
 * @param {Commit} of
 * @param {{parts: string[], heading: string, key?: string}} wanted `heading` of the part of CHANGELOG.md
 * @returns {Promise<string[]>} the files
 */
async function makeRelease(out, of, { parts, heading, key }) {
  const notes = notesOf(fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), heading);
  const work = temporaryDir('release');
  try {
    const made = [];
    for (const part of Object.keys(makers).filter((one) => parts.includes(one)))
      made.push(...(await makers[part](work, of)));
    const put = (file, text) => {
      fs.writeFileSync(path.join(work, file), text);
      return path.join(work, file);
    };
    const statement = JSON.stringify(provenance(made.sort(byName), of), null, 2);
    const files = [...made, put('RELEASE-NOTES.md', notes), put('provenance.intoto.json', `${statement}\n`)].sort(
      byName,
    );
    const checksums = put('SHA256SUMS', sums(files));
    const signed = key ? [await sign(checksums, key)] : [];
    return moved([...files, checksums, ...signed], out);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/** A folder with files of another release would make its checksums incomplete. */
function moved(files, out) {
  fs.rmSync(out, { recursive: true, force: true });
  fs.mkdirSync(out, { recursive: true });
  return files.map((file) => {
    const target = path.join(out, path.basename(file));
    fs.copyFileSync(file, target);
    return target;
  });
}

module.exports = { makeRelease, namespace, partNames: Object.keys(makers) };
