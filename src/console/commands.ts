/** Commands of the search: pages, and forms that begin something, by words that people type. */
import { type Rights, sections } from './parts/navigation';

export type Command = { readonly label: string; readonly href: string; readonly rule?: string };

const beginnings: readonly Command[] = [
  { label: 'Plan a rollout', href: '/rollouts/new' },
  { label: 'New runbook', href: '/runbooks/new', rule: 'baremetal:runbook:create' },
  { label: 'Failing nodes', href: '/inbox#failing' },
  { label: 'Parked runs', href: '/runs?state=parked' },
  { label: 'Failed runs', href: '/runs?state=failed' },
  { label: 'Nodes in maintenance', href: '/nodes?maintenance=true' },
  { label: 'Free nodes', href: '/nodes?provision_state=available&maintenance=false' },
  { label: 'Change project or scope', href: '/scope' },
];

const commands: readonly Command[] = [...sections, ...beginnings];

export const commandRules = commands.flatMap(({ rule }) => (rule ? [rule] : []));

/** Those that the rights admit and whose words begin as the typed ones do; all for no words. */
export const commandsFor = (typed: string, rights: Rights): readonly Command[] => {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ label }: Command): boolean => {
    const words = label.toLowerCase().split(/\s+/);
    return wanted.every((one) => words.some((word) => word.startsWith(one)));
  };
  return commands.filter((command) => (!command.rule || rights.has(command.rule)) && matches(command));
};
