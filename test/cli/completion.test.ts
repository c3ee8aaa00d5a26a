/** Completion: what the shells ask for, what they are answered, and that real shells load the script and use it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suiteOf } from '../support/found';
import { temper } from './support/command';

const wordsFor = async (...typed: string[]): Promise<string[]> => {
  const { out } = await temper(['__complete', '--', ...typed]);
  return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]!]));
};

test.each([
  [['ru'], ['runs', 'runbooks']],
  [
    ['runs', 're'],
    ['resume', 'retry', 'rerun'],
  ],
  [
    ['runs', 'list', '--ver'],
    ['--verb', '--version'],
  ],
  [
    ['runs', 'list', '--format', ''],
    ['table', 'json', 'yaml', 'csv', 'value'],
  ],
  [['runs', 'list', '-f', 'y'], ['yaml']],
  [
    ['--os-cloud', 'runs', 'ru'],
    ['runs', 'runbooks'],
  ],
  [
    ['--json', 'windows', ''],
    ['list', 'add', 'delete', 'help'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['completion', 'bash', ''], []],
  [['runs', 'list', '--state', ''], []],
  [['runbooks', 'check', '--file', ''], []],
  [['nonsense', 'x', '--nons'], []],
])('%j is completed with %j', async (typed, words) => {
  expect(await wordsFor(...typed)).toEqual(words);
});

test('the command that shells ask is in no help and in no completion', async () => {
  expect((await temper('--help')).out).not.toContain('__complete');
  expect(await wordsFor('__')).toEqual([]);
});

test('a shell that is not known is wrong usage', async () => {
  const { status, err } = await temper('completion tcsh');
  expect(status).toBe(2);
  expect(err).toContain('Allowed choices are bash, zsh, fish');
});

describe('real shells', () => {
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'temper-completion-'));
    // Answers as the command does, and shows what the shell asked.
    const { out } = await temper(['__complete', '--', 'runs', 're']);
    writeFileSync(
      join(dir, 'temper'),
      `#!/bin/sh\n[ "$*" = '__complete -- runs re' ] || exit 0\nprintf '%s' '${out.replaceAll("'", '')}'\n`,
    );
    chmodSync(join(dir, 'temper'), 0o755);
    for (const shell of ['bash', 'zsh', 'fish'])
      writeFileSync(join(dir, `script.${shell}`), (await temper(`completion ${shell}`)).out);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  /** A shell of this machine, or a test that is skipped by name. */
  const withShell = (shell: string, act: () => void): void => {
    const there = spawnSync(shell, ['-c', ':']).status === 0;
    suiteOf(shell, there ? undefined : `needs ${shell}`)(shell, () => {
      test('completes a command', act);
    });
  };

  /** Runs the shell, and returns its standard output. It must print nothing to standard error. */
  const says = (shell: string, args: readonly string[]): string => {
    const env = { PATH: `${dir}:${process.env.PATH}`, HOME: dir, TERM: 'dumb' };
    const { stdout, stderr, status } = spawnSync(shell, args, { cwd: dir, env, encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    return stdout;
  };

  withShell('bash', () => {
    const line = `source script.bash; source script.bash; COMP_WORDS=(temper runs re); COMP_CWORD=2; _temper; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(says('bash', ['--norc', '-u', '-c', line])).toBe('resume\nretry\nrerun\n');
  });

  withShell('zsh', () => {
    const line = `compdef() { echo "$@"; }; source ./script.zsh
_describe() { print -l -- "\${(P@)2}"; }
words=(temper runs re); CURRENT=3; _temper`;
    expect(says('zsh', ['-f', '-c', line])).toMatch(/^_temper temper\nresume:.+\nretry:.+\nrerun:.+\n$/);
  });

  withShell('fish', () => {
    const out = says('fish', ['--no-config', '-c', 'source script.fish; complete -C "temper runs re"']);
    expect(out).toMatch(/^rerun\t.+\nresume\t.+\nretry\t.+\n$/);
  });
});
