/** What `npm run mutation` breaks, and the tests that are to notice. */

const fs = require('node:fs');
const path = require('node:path');
const { root } = require('./paths');

/** Every source file below some folders. */
const below =
  (...folders) =>
  () =>
    folders.flatMap((folder) =>
      fs
        .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${folder}/${name}`)
        .sort(),
    );
const these =
  (...files) =>
  () =>
    files;

/** `except`: test files that are left out. `servers`: whether the tests need Postgres and Temporal. */
const rooms = {
  policy: {
    files: below('src/policy'),
    // But for the fuzzers, which take as long as all others together.
    tests: ['test/policy/*.test.ts'],
    except: ['test/policy/fuzz.test.ts', 'test/policy/filter.test.ts'],
  },
  workflows: {
    files: these('src/workflows/interpreter.ts', 'src/workflows/failures.ts', 'src/workflows/profiles.ts'),
    tests: ['test/workflows/*.test.ts'],
  },
  runs: {
    files: below('src/runs'),
    // But for those that replay histories, play whole lives or restart an engine, which take minutes for each mutant, and
    // aborts, which on a busy machine ends at its deadlines.
    tests: [
      'test/runs/{accept,catching-up,ending,engine,late-orders,marks,passes,powers,recovering}.test.ts',
      'test/runs/{allocating,call,reconcile,runs,webhooks}.test.ts',
      'test/api/quotas.test.ts',
    ],
    servers: true,
  },
  activities: {
    files: below('src/activities'),
    tests: [
      'test/activities/{act-parts,control-acts,look-places,looks,one-ramdisk,power-look}.test.ts',
      'test/activities/{late-attempt,lease,power-slots,power-sync,ramdisk-image,reported-attempts,run-act,secrets-command,stolen-api}.test.ts',
      'test/runs/{call,inspection-rules,lost-ramdisk,runs}.test.ts',
    ],
    servers: true,
  },
  rollouts: {
    files: below('src/rollouts', 'src/model/rollouts', 'src/inventory/rollouts'),
    tests: [
      'test/model/{consent,disruption,rollout-acts,rollouts,windows}.test.ts',
      'test/inventory/{consents,disruption-budgets,rollout-tending,rollouts}.test.ts',
      'test/api/rollout-{admission,approvers,asks,gates,samples,times,withdrawals,words}.test.ts',
      'test/runs/rollouts.test.ts',
    ],
    servers: true,
  },
  fence: {
    files: these(
      'src/inventory/fence.ts',
      'src/inventory/idempotency.ts',
      'src/inventory/leases.ts',
      'src/inventory/quotas.ts',
      'src/inventory/runs/acts.ts',
      'src/inventory/runs/run-steps.ts',
      'src/inventory/runs/intents.ts',
      'src/inventory/runs/accept.ts',
      'src/inventory/runs/hold.ts',
      'src/inventory/runs/starting.ts',
      'src/inventory/runs/turns.ts',
    ),
    tests: [
      'test/inventory/{fence,runs,turns}.test.ts',
      'test/activities/{lease,late-attempt,run-act}.test.ts',
      'test/api/{idempotency,quotas}.test.ts',
    ],
    servers: true,
  },
  admission: {
    files: these(
      'src/admission/visibility.ts',
      'src/api/server/admission.ts',
      'src/api/body/body.ts',
      'src/api/server/caller-key.ts',
      'src/api/idempotency/idempotency.ts',
      'src/api/idempotency/cut-off.ts',
      'src/api/server/limits.ts',
      'src/api/body/open-budget.ts',
      'src/api/resource/visibility.ts',
    ),
    tests: [
      'test/api/{body,hidden,idempotency,idempotency-cut-off,idempotency-made,limits,open-routes,visibility}.test.ts',
    ],
    servers: true,
  },
};

module.exports = { rooms };
