/** `temper recover`: recovery after a restore of PostgreSQL or Temporal. */
import type { Command } from 'commander';
import type { Recovery } from '../../wire/installation';
import type { Acting, Context } from '../context';
import { plainText } from '../tables';

const recoveryText = ({ recovery, done, lines }: Recovery): string => {
  if (!recovery) return 'There is no recovery: nothing is held back.\n';
  const list = lines.map((line) => `- ${plainText(line)}\n`).join('') || '- there is nothing to put right\n';
  const end = done
    ? 'Done; the recovery has ended, and work goes on.\n'
    : 'Nothing was changed. `temper recover --yes` does this and ends the recovery.\n';
  return `Held back since ${plainText(recovery.since)}: ${plainText(recovery.reason)}.\n${list}${end}`;
};

const recover = async ({ api, print }: Context, { yes = false }: { yes?: boolean }): Promise<void> => {
  print((await api.send('POST', '/temper/v1/recovery', { yes })) as Recovery, recoveryText);
};

export const addRecover = (program: Command, acting: Acting): void => {
  program
    .command('recover')
    .description('after a restore: say what would be done about runs and nodes; system administrators')
    .option('--yes', 'do it, and end the recovery')
    .action(acting(recover));
};
