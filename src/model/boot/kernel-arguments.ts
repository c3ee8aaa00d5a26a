/** Kernel arguments of a ramdisk: allowed characters, and the room in the image. */
import { raise } from '../errors';

/** Characters; the kernel itself accepts 2,048 on x86. */
export const longestArguments = 1_900;

// The list is on a line of a GRUB script. Quotes, braces, $, ;, |, &, <, >, # and \ have a meaning there, and a line break would begin a
// command (https://www.gnu.org/software/grub/manual/grub/grub.html#Shell_002dlike-scripting).
const allowed = /^[A-Za-z0-9_.,:/=+@%~?^[\]-]$/;

/** Arguments are separated by single blanks. */
export const argumentsFault = (text: string, room = longestArguments): string | undefined => {
  if (text === '') return undefined;
  const words = text.split(' ');
  if (words.includes('')) return 'must be separated by single blanks';
  const wrong = [...text].find((one) => one !== ' ' && !allowed.test(one));
  if (wrong !== undefined) return `must not hold ${shownCharacter(wrong)}`;
  const most = Math.min(room, longestArguments);
  return text.length > most ? `has ${text.length} characters, and there is room for ${most}` : undefined;
};

const shownCharacter = (one: string): string => {
  const code = one.codePointAt(0)!;
  return code > 0x20 && code < 0x7f ? one : `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
};

// Only the run that boots the ramdisk sets its identity and its API.
const reservedArguments: readonly string[] = [
  'ipa-agent-token',
  'ipa-api-url',
  'ipa-inspection-callback-url',
  'boot_method',
  'BOOTIF',
  'initrd',
];

/** An operator's arguments must not replace the run's own. */
export const givenArgumentsFault = (text: string, room?: number): string | undefined => {
  const taken = text.split(' ').find((word) => reservedArguments.includes(word.split('=', 1)[0]!));
  if (taken !== undefined) return `must not set ${taken.split('=', 1)[0]}, which each boot sets itself`;
  return argumentsFault(text, room);
};

/** Characters of base64url of 32 bytes. */
const tokenLength = 43;

/** Inserted while an image is sent, because PostgreSQL has only their hashes. */
export type SentFacts = {
  readonly token: string;
  /** Null outside inspections. */
  readonly inspection: { readonly url: string; readonly token: string } | null;
};

export const sentArguments = ({ token, inspection }: SentFacts): string =>
  [
    `ipa-agent-token=${token}`,
    ...(inspection ? [`ipa-inspection-callback-url=${inspection.url}?boot=${inspection.token}`] : []),
  ].join(' ');

/** Arguments that a network boot script puts first. */
export const scriptArguments = (mac: string, initrds: readonly string[]): string =>
  [...initrds.map((name) => `initrd=${name}`), `BOOTIF=${mac}`].join(' ');

const widestScript = scriptArguments('00:00:00:00:00:00', ['initrd', 'files.img']).length + 1;

/** Characters left for a boot's own arguments. */
export const networkRoom = longestArguments - widestScript;

/** Named as openstack/ironic-python-agent reads them from /proc/cmdline. */
type BootFacts = {
  /** Without /v1. */
  readonly apiUrl: string;
  /** The node's boot port. Absent if it has none or several, or if the boot request identifies it. */
  readonly mac?: string;
  /** `vmedia` includes the firmware's HTTP client. */
  readonly by: 'vmedia' | 'network';
  /** Null outside inspections. */
  readonly inspection_url: string | null;
};

const bootArguments = ({ apiUrl, mac, by }: BootFacts): string[] => [
  `ipa-api-url=${apiUrl}`,
  ...(by === 'vmedia' ? ['boot_method=vmedia'] : []),
  ...(mac === undefined ? [] : [`BOOTIF=${mac}`]),
];

export const inspectionUrl = (apiUrl: string): string => `${apiUrl.replace(/\/$/, '')}/v1/continue_inspection`;

/**
 * For a machine without a node: its ramdisk reports its inventory once and looks for no node. Throws if the arguments are too long or
 * invalid.
 */
export const discoveryArguments = (ramdisk: string, apiUrl: string): string => {
  const callback = `ipa-inspection-callback-url=${inspectionUrl(apiUrl)}`;
  const text = ramdisk === '' ? callback : `${ramdisk} ${callback}`;
  const fault = argumentsFault(text, networkRoom);
  if (fault !== undefined) throw new Error(`kernel arguments of discovery: ${fault}`);
  return text;
};

// Spelled as in openstack/ironic:ironic/common/utils.py.
const placeholder = '%default%';

type LineWanted = {
  readonly facts: BootFacts;
  readonly ramdisk: string;
  /** The node's `kernel_append_params`, instead of the ramdisk's; %default% inserts those. */
  readonly node?: string;
  /** Bytes for the whole line. */
  readonly room: number;
};

/** Leaves room for the arguments that are inserted while the image is sent. Throws KernelArgumentsRefused. */
export const argumentLine = ({ facts, ramdisk, node, room }: LineWanted): string => {
  const given = (node ?? placeholder).replaceAll(placeholder, ramdisk).trim();
  const line = [...(given === '' ? [] : [given]), ...bootArguments(facts)].join(' ');
  const token = '-'.repeat(tokenLength);
  const { inspection_url: url } = facts;
  const sent = sentArguments({ token, inspection: url === null ? null : { url, token } });
  const left = Math.min(room, longestArguments) - sent.length - 1;
  const reason = givenArgumentsFault(given) ?? argumentsFault(sent) ?? argumentsFault(line, left);
  return reason === undefined ? line : raise('KernelArgumentsRefused', { reason });
};
