/** The command run in this process, with a world of the test's own. */
import type { CliDeps, Installation } from '../../../src/cli';
import { runCli, stop } from '../../../src/cli';

export type Said = { readonly status: number; readonly out: string; readonly err: string };
type World = Partial<Installation> &
  Partial<Pick<CliDeps, 'confirm' | 'fetchWith' | 'readFile' | 'signal' | 'terminal' | 'keyboard' | 'screen'>> & {
    /** As the client package: it has nothing of an installation. */
    readonly client?: true;
    readonly env?: Readonly<Record<string, string>>;
    /** Texts by path; the command's writes replace them. */
    readonly files?: Record<string, string>;
    /** Called with what is printed, as it is printed. */
    readonly heard?: (text: string) => void;
    /** The same for errors and notes. */
    readonly noted?: (text: string) => void;
  };

const installation: Installation = {
  checks: () => [],
  replay: async () => ({ events: 0, fault: null }),
  newKeys: () => ({ public: 'cHVi', private: 'cHJp' }),
  secrets: () => stop('usage', 'no settings of a worker'),
  storeRamdisk: async () => stop('usage', 'no folder of images'),
  storeImage: async () => stop('usage', 'no folder of images'),
  prepareDhcp: async () => stop('usage', 'no folder of dnsmasq'),
  importIronic: async () => stop('usage', 'no settings of an API process'),
};

/** Runs the command to its end. @param line its arguments; a text is split at blanks */
export const temper = async (line: string | readonly string[], world: World = {}): Promise<Said> => {
  const said = { out: '', err: '' };
  const { env = {}, files = {}, heard = () => {}, noted = () => {}, client, ...rest } = world;
  const status = await runCli(typeof line === 'string' ? line.split(' ') : line, {
    version: '0.0.0-test',
    env,
    home: '/home/x',
    readFile: (path) => files[path],
    writeFile: (path, text) => {
      files[path] = text;
    },
    keepSecret: (path, text) => {
      files[path] = text;
    },
    removeFile: (path) => {
      delete files[path];
    },
    filesIn: (path) => {
      const folder = `${path.replace(/\/$/, '')}/`;
      const names = Object.keys(files).flatMap((name) => (name.startsWith(folder) ? [name.slice(folder.length)] : []));
      return names.length > 0 ? names : undefined;
    },
    fetchWith: () => fetch,
    out: (text) => {
      said.out += text;
      heard(text);
    },
    err: (text) => {
      said.err += text;
      noted(text);
    },
    signal: new AbortController().signal,
    ...rest,
    ...(!client && { installation: { ...installation, ...rest } }),
  });
  return { status, ...said };
};
