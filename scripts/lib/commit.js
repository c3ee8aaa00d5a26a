/** What packages are made of: the commit that is checked out, with its time. */

const { root } = require('./paths');
const { run } = require('./run');
const { Stop } = require('./say');

const git = (...args) => run('git', args, { cwd: root });

/** @throws Stop with the files that are not committed */
async function refuseChanges() {
  const changed = await git('status', '--porcelain');
  if (changed.output.trim())
    throw new Stop(
      `A package is made of a commit, and these files are not committed:\n${changed.output.trimEnd()}\nCommit them, or put them aside with \`git stash --include-untracked\`.`,
    );
}

/** A time and a name for what is packed. @throws Stop if the same name would come to stand for other files */
async function committed() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given) {
    if (!/^\d+$/.test(given)) throw new Stop(`SOURCE_DATE_EPOCH is "${given}"; it must be a number of seconds.`);
    return { epoch: Number(given), revision: '' };
  }
  const last = await git('log', '-1', '--format=%ct %h');
  if (!last.ok) throw new Stop('This is no git checkout: give the time of what is packed in SOURCE_DATE_EPOCH.');
  await refuseChanges();
  const [epoch, commit] = last.output.trim().split(' ');
  const day = new Date(Number(epoch) * 1000).toISOString().slice(0, 19).replace(/\D/g, '');
  return { epoch: Number(epoch), revision: `+git${day}.${commit}` };
}

/** @returns {Promise<{commit: string, tags: string[]}>} full id, and the tags of this commit */
async function checkedOut() {
  const [commit, tags] = await Promise.all([git('rev-parse', 'HEAD'), git('tag', '--points-at', 'HEAD')]);
  if (!commit.ok) throw new Stop('A release is made of a git checkout, and this is none.');
  return { commit: commit.output.trim(), tags: tags.output.split('\n').filter(Boolean) };
}

module.exports = { checkedOut, committed, refuseChanges };
