/** `temper secrets`: keys, resealing and moves of sealed secrets at a BMC worker, without the API. */
import type { Command } from 'commander';
import type { Acting, Context } from '../context';
import type { KeyUse, SecretsTool } from '../deps';
import { exits, stop } from '../faults';
import { withFormats } from '../formats';
import { listing, plainText } from '../tables';

const keysTable = listing<KeyUse>('secrets', ['SEALED TO', 'SECRETS'], ({ key_id, count }) => [key_id, String(count)]);

const withTool = async (context: Context, work: (tool: SecretsTool) => Promise<void>): Promise<void> => {
  const tool = context.installation().secrets();
  try {
    await work(tool);
  } finally {
    await tool.close();
  }
};

type MadeKey = { readonly id: string; readonly group?: string };

const makeKeys = async ({ installation, print }: Context, { id, group }: MadeKey): Promise<void> => {
  if (!/^[^:@,\s]+$/.test(id)) stop('usage', '--id must be a word without : @ and commas.');
  if (group !== undefined && /[:,]/.test(group)) stop('usage', '--group must be without : and commas.');
  const made = installation().newKeys();
  const pair = {
    TEMPER_SECRETS_PUBLIC_KEYS: `${id}${group === undefined ? '' : `@${group}`}:${made.public}`,
    TEMPER_SECRETS_PRIVATE_KEYS: `${id}:${made.private}`,
  };
  print(
    pair,
    () =>
      `# For API processes and workers:\nTEMPER_SECRETS_PUBLIC_KEYS=${pair.TEMPER_SECRETS_PUBLIC_KEYS}\n` +
      `# For BMC workers ${group === undefined ? '' : `of conductor group ${group || "''"} `}only:\nTEMPER_SECRETS_PRIVATE_KEYS=${pair.TEMPER_SECRETS_PRIVATE_KEYS}\n`,
  );
};

const status = (context: Context): Promise<void> =>
  withTool(context, async (tool) => {
    const keys = await tool.keys();
    context.printRows({ keys }, keys, keysTable);
  });

const reseal = (context: Context): Promise<void> =>
  withTool(context, async (tool) => {
    const done = await tool.reseal();
    context.print(done, ({ counts, keys }) => {
      const rest = counts.foreign > 0 ? `; ${counts.foreign} are sealed to keys that are not held here` : '';
      const unused = counts.unused > 0 ? `; ${counts.unused} have no holder any more` : '';
      return `${counts.sealed} sealed again, ${counts.kept} as they should be${rest}${unused}.\n${keysTable(keys)}`;
    });
  });

const move = (context: Context, node: string, { yes }: { readonly yes?: boolean }): Promise<void> =>
  withTool(context, async (tool) => {
    const found = await tool.findMove(node);
    if (!found) {
      context.print({ moved: false }, () => `The credentials of ${plainText(node)} belong to the BMC that it has.\n`);
      return;
    }
    const { from, to, make } = found;
    const what = `Credentials of ${plainText(node)}:\n  given for ${plainText(from)}\n  to be sent to ${plainText(to)}\n`;
    if (!yes) {
      context.deps.err(what);
      if (!context.deps.confirm) stop('usage', 'There is no terminal to confirm; give --yes.');
      if (!(await context.deps.confirm!('Move them?'))) return context.end(exits.refused);
    }
    await make();
    context.print({ moved: true, from, to }, () => `${yes ? what : ''}Moved.\n`);
  });

const environmentHelp = `
All but \`keys\` read TEMPER_DATABASE_URL (of role temper_bmc), TEMPER_SECRETS_PRIVATE_KEYS and
TEMPER_SECRETS_PUBLIC_KEYS as a BMC worker has them: run them where one runs.
`;

export const addSecrets = (program: Command, acting: Acting): void => {
  const secrets = program
    .command('secrets')
    .description('keys of sealed secrets, at a BMC worker')
    .addHelpText('after', environmentHelp);
  secrets
    .command('keys')
    .description('make a pair of keys, as settings; nothing is stored')
    .option('--id <id>', 'name of the pair', 'k1')
    .option('--group <conductor group>', 'for this group only')
    .action(acting(makeKeys));
  withFormats(secrets.command('status').description('how many secrets are sealed to which keys')).action(
    acting(status),
  );
  secrets
    .command('reseal')
    .description('seal again, to the present keys, what the keys held here open')
    .action(acting(reseal));
  secrets
    .command('move')
    .description('let a node’s stored credentials go to the BMC address that it has now')
    .argument('<node>', 'UUID or name')
    .option('--yes', 'do not ask')
    .action(acting(move));
};
