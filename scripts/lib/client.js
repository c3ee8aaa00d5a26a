/** The client package: the `temper` command without the server, as one file for Node and as a package for npm. */

const fs = require('node:fs');
const path = require('node:path');
const { dist, modules, root, temporaryDir } = require('./paths');
const { billOf } = require('./programs');
const { run } = require('./run');
const { Stop } = require('./say');

const manifest = require('../../package.json');

const { version } = manifest;

const command = path.join(dist, 'process', 'command', 'terminal.js');

/** The first line is for a shell; a Node that is too old is refused in its own words, before it reads newer syntax. */
const head = () =>
  `#!/usr/bin/env node\n// SPDX-License-Identifier: Apache-2.0\n${fs.readFileSync(path.join(__dirname, 'node-version.js'), 'utf8')}`;

/**
 * One file with all that it requires. Not minified: whoever runs it with a token can read it.
 * @param {string} folder
 * @param {string} full version with its commit
 * @returns {Promise<string[]>} files that it is made of
 */
function bundle(folder, full) {
  const webpack = require('webpack');
  const from = JSON.stringify(`./${path.relative(root, command)}`);
  const entry = `import { runAtTerminal } from ${from}; runAtTerminal({ version: ${JSON.stringify(full)} });`;
  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    // Names of modules are made of their paths from here on, so that they are the same in every checkout.
    context: root,
    entry: `data:text/javascript,${encodeURIComponent(entry)}`,
    output: { path: folder, filename: 'temper.cjs', asyncChunks: false },
    optimization: { minimize: false },
    devtool: false,
    plugins: [new webpack.BannerPlugin({ banner: head(), raw: true })],
  });
  return new Promise((resolve, reject) => {
    compiler.run((failure, stats) => {
      if (failure || !stats || stats.hasErrors())
        return reject(new Stop(`The client cannot be bundled: ${failure ?? stats?.toString('errors-only')}`));
      const { fileDependencies } = stats.compilation;
      compiler.close(() => resolve([...fileDependencies].filter((file) => file.startsWith(modules))));
    });
  });
}

/** Folders of the packages that files lie in, from the checkout on. */
function packagesOf(files) {
  const folderOf = (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.relative(root, file))?.[0];
  const isPackage = (folder) => folder && fs.existsSync(path.join(root, folder, 'package.json'));
  return [...new Set(files.map(folderOf))].filter(isPackage).sort();
}

const isLicence = (name) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(name);

/** Licences of the packages inside, as they demand of copies. @throws Stop where one has none */
function licences(packages) {
  return packages
    .map((folder) => {
      const at = path.join(root, folder);
      const { name, version: of, license } = JSON.parse(fs.readFileSync(path.join(at, 'package.json'), 'utf8'));
      if (typeof license !== 'string') throw new Stop(`${folder} names no licence; the client must not contain it.`);
      const texts = fs.readdirSync(at).filter(isLicence).sort();
      const said = texts.map((file) => fs.readFileSync(path.join(at, file), 'utf8').trim()).join('\n\n');
      return `${name} ${of}: ${license}\n\n${said || 'The package contains no text of its licence.'}\n`;
    })
    .join(`\n${'-'.repeat(72)}\n\n`);
}

const readme = `# temper, the command

The command line client of Temper, a bare-metal provisioning control plane. It needs Node ${manifest.engines.node.replace('>=', '')} or newer and no other package.

    npm install --global ./temper-client-${version}.tgz
    temper --version

Or take the file \`temper.cjs\` alone, name it \`temper\` and make it executable.

Say where the API is: \`TEMPER_URL\` with \`TEMPER_TOKEN\`, or \`OS_CLOUD\` with your \`clouds.yaml\`. Then:

    temper doctor
    temper runs list
    source <(temper completion bash)

\`temper --help\` lists the commands. \`import\`, \`replay\`, \`secrets\`, \`boot dnsmasq\`, \`ramdisk add\` and \`image add\` of a file
work on a host of Temper and are in its Debian package and image.
`;

/**
 * Makes both forms of the client of what is built in `dist`.
 * @param {string} out folder
 * @param {{epoch: number, revision: string}} of as for the Debian package
 * @returns {Promise<string[]>} the files
 */
async function makeClient(out, { epoch, revision }) {
  const work = temporaryDir('client');
  const full = `${version}${revision}`;
  try {
    const packages = packagesOf(await bundle(work, full));
    const put = (name, text) => fs.writeFileSync(path.join(work, name), text);
    const { license, engines } = manifest;
    const own = { name: 'temper-client', version, description: 'The command line client of Temper', license, engines };
    put('package.json', `${JSON.stringify({ ...own, bin: { temper: 'temper.cjs' } }, null, 2)}\n`);
    put('README.md', readme);
    put('THIRD-PARTY-LICENSES.txt', licences(packages));
    put('sbom.cdx.json', await billOf(own, (folder) => packages.includes(folder), epoch));
    for (const file of ['LICENSE', 'NOTICE']) fs.copyFileSync(path.join(root, file), path.join(work, file));
    fs.chmodSync(path.join(work, 'temper.cjs'), 0o755);
    return await packed(work, path.join(out, `temper-client-${full}`));
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/** npm gives all files of a package one time, so that the same files are the same bytes. */
async function packed(work, named) {
  fs.mkdirSync(path.dirname(named), { recursive: true });
  const made = await run('npm', ['pack', '--ignore-scripts', '--loglevel=error'], { cwd: work });
  if (!made.ok) throw new Stop(`npm does not pack the client: ${made.reason}`);
  const [tarball, file] = [`${named}.tgz`, `${named}.cjs`];
  fs.copyFileSync(path.join(work, `temper-client-${version}.tgz`), tarball);
  fs.copyFileSync(path.join(work, 'temper.cjs'), file);
  fs.chmodSync(file, 0o755);
  return [tarball, file];
}

module.exports = { makeClient };
