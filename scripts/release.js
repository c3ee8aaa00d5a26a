/** `npm run release`: everything that is published of a tagged commit, or of any commit as a rehearsal. */

require('./lib/node-version');
const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { checkedOut, committed, refuseChanges } = require('./lib/commit');
const { root, workDir } = require('./lib/paths');
const { makeRelease, namespace, partNames } = require('./lib/release');
const { run } = require('./lib/run');
const { main, Stop, say, timed } = require('./lib/say');
const { setUp } = require('./lib/setup');

const { version } = require('../package.json');

const usage = `npm run release -- [--rehearsal] [--parts LIST] [--key FILE] [--out DIR]
  --rehearsal   of any commit: without its tag and without .ci/run, with the commit in the names of files
  --parts LIST  only these, with commas between: ${partNames.join(', ')}; a release has all
  --key FILE    private key of OpenSSH that signs the checksums; a release needs one
  --out DIR     where the files go (default .temper/release); the folder is replaced`;

/** @type {NonNullable<import('node:util').ParseArgsConfig['options']>} */
const optionKinds = {
  rehearsal: { type: 'boolean' },
  parts: { type: 'string' },
  key: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean' },
};

function options(args) {
  try {
    const { values } = parseArgs({ args, options: optionKinds });
    const parts = values.parts === undefined ? partNames : String(values.parts).split(',');
    const unknown = parts.find((part) => !partNames.includes(part));
    if (unknown !== undefined) throw new Error(`There is no part "${unknown}".`);
    if (values.parts && !values.rehearsal) throw new Error('--parts is for a --rehearsal: a release has all parts.');
    const { help, rehearsal, key } = values;
    const out = path.resolve(String(values.out ?? path.join(workDir, 'release')));
    return { help, rehearsal, parts, out, key: key === undefined ? undefined : String(key) };
  } catch (failure) {
    throw new Stop(`${failure.message}\n${usage}`);
  }
}

/** Each place that names the version. @throws Stop if one names another */
function refuseOtherVersions() {
  const chart = fs.readFileSync(path.join(root, 'deploy/helm/temper/Chart.yaml'), 'utf8');
  for (const key of ['version', 'appVersion']) {
    const found = new RegExp(`^${key}: (.+)$`, 'm').exec(chart)?.[1];
    if (found !== version)
      throw new Stop(`The chart's ${key} is ${found}, and package.json has ${version}. Make them equal and commit.`);
  }
}

/** @throws Stop if this commit cannot be released */
async function refuseUntagged(tags, key) {
  const tag = `v${version}`;
  if (!tags.includes(tag))
    throw new Stop(
      `This commit has no tag ${tag}. Tag it with \`git tag --sign ${tag}\`, check out the tag, or try with --rehearsal.`,
    );
  if (!key) throw new Stop('A release is signed: give --key, or try with --rehearsal.');
  const checked = await timed('running .ci/run', () => run('bash', ['.ci/run'], { cwd: root, show: true }));
  if (!checked.ok) throw new Stop('.ci/run failed, so there is no release. Its output above says why.');
}

main(async () => {
  const { help, rehearsal = false, parts, key, out } = options(process.argv.slice(2));
  if (help) return void process.stdout.write(`${usage}\n`);
  await refuseChanges();
  const { commit, tags } = await checkedOut();
  refuseOtherVersions();
  if (!rehearsal) await refuseUntagged(tags, key);
  const { epoch, revision } = await committed();
  await setUp();
  const of = { epoch, commit, revision: rehearsal ? revision : '' };
  const wanted = { parts, key, heading: rehearsal ? 'Unreleased' : version };
  const files = await timed('making the release', () => makeRelease(out, of, wanted));
  process.stdout.write(fs.readFileSync(path.join(out, 'SHA256SUMS')));
  say(`${files.length} files are in ${out}.`);
  if (key)
    say(
      `Readers verify them with \`ssh-keygen -Y verify -f ALLOWED_SIGNERS -I SIGNER -n ${namespace} -s SHA256SUMS.sig < SHA256SUMS\` and \`sha256sum -c SHA256SUMS\`.`,
    );
  else say('They are not signed: --key was not given.');
});
