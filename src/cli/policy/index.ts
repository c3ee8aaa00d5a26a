/** `temper policy`: tests and explains a policy, before it is loaded or in force. */
import type { Command } from 'commander';
import { pageOptions } from '../access/pages';
import type { Acting } from '../context';
import { explain } from './explain';
import { check, diff, lint, matrix, sample } from './files';
import { history } from './history';
import { shadow } from './shadow';

const meant = `
A policy is named by a set (temper, ironic, closed), by files and folders (a.yaml,policy.d: the later one counts), or by
both (closed:a.yaml). Of a folder, *.yaml, *.yml and *.json are read, sorted by name. Without a name it is that of
TEMPER_POLICY_SET, TEMPER_POLICY_FILE and TEMPER_POLICY_DIRS.
`;

const chosen = (command: Command): Command =>
  command
    .option('--set <set>', 'rules in force for what the file does not name: temper, ironic or closed')
    .option('--mode <mode>', 'strict (default), or compat: decide as the reference engine does, and warn');

const addExplain = (policy: Command, acting: Acting): void => {
  chosen(policy.command('explain'))
    .description('why a rule admits or refuses a caller; exit status 1 if it refuses')
    .argument('<rule>', 'such as baremetal:node:set_power_state')
    .option('--file <files>', 'policy files or folders')
    .option('--as <persona>', 'a caller of the matrix, such as lessee-member')
    .option('--roles <roles>', 'another caller, by roles, comma-separated')
    .option('--project <id>', 'the project of --roles')
    .option('--system', 'system scope for --roles')
    .option('--admin-of <projects>', 'other projects in which the caller is admin, comma-separated')
    .option('--owner <project>', 'owner of the object, or none; project-owner when not given')
    .option('--lessee <project>', 'lessee of the node, or none; project-lessee when not given')
    .option('--tenant <project>', 'project of the lease a run belongs to, or none')
    .option('--public', 'of a runbook: it is public')
    .option('--node <node>', 'ask the API about this node: for these credentials, or for --as or --roles')
    .option('--runbook <runbook>', 'the same about a runbook')
    .option('--allocation <allocation>', 'the same about an allocation')
    .action(acting(explain));
};

export const addPolicy = (program: Command, acting: Acting): void => {
  const policy = program
    .command('policy')
    .description('who may do what, and why: of a policy file, or of the policy in force')
    .addHelpText('after', meant);
  addExplain(policy, acting);
  chosen(policy.command('matrix'))
    .description('every rule for every kind of caller and object')
    .argument('[policy]', 'set, files and folders, or both')
    .action(acting(matrix));
  chosen(policy.command('diff'))
    .description('what changes for whom; exit status 1 if something does')
    .argument('<old>', 'set, files and folders, or both')
    .argument('<new>', 'set, files and folders, or both')
    .action(acting(diff));
  chosen(policy.command('lint'))
    .description('what is wrong or dangerous in a file; exit status 1 if it cannot be used')
    .argument('<policy>', 'set, files and folders, or both')
    .option('--warnings-fail', 'exit status 1 for warnings too')
    .option(
      '--fix',
      'write the lines that are missing into the file: whom it admits to an object, it lets see that object',
    )
    .action(acting(lint));
  policy
    .command('sample')
    .description('a commented file of every rule')
    .option('--set <set>', 'temper, ironic or closed')
    .action(acting(sample));
  pageOptions(
    policy
      .command('history')
      .description('which policy texts were in force since when; with a hash, the text behind it')
      .argument('[hash]', 'of a run, an audit row or this list, or its beginning'),
    'policy',
  ).action(acting(history));
  policy
    .command('check')
    .description('run a conformance file; exit status 1 if a case fails')
    .argument('<file>', 'in the format of policy-conformance.json, or a folder of such files')
    .option('--mode <mode>', 'strict (default) or compat')
    .action(acting(check));
  policy
    .command('shadow')
    .description(
      'where TEMPER_POLICY_SHADOW_FILE would have decided otherwise since the API started; exit status 1 if it did',
    )
    .action(acting(shadow));
};
