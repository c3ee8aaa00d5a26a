/** Steps that the ramdisk runs: what it offers, each run once whatever dies meanwhile, and failures in its own words. */
import { intentsOf, quickTiming } from './support/context';
import { inStep, type RamdiskBench, startRamdiskBench } from './support/ramdisk';

let ramdisks: RamdiskBench;
beforeAll(async () => {
  ramdisks = await startRamdiskBench();
});
afterAll(() => ramdisks.close());

const erase = inStep('erase_devices');

describe('what the ramdisk offers', () => {
  test.each([
    ['clean', 'deploy.erase_devices'],
    ['provide', 'deploy.erase_devices'],
    ['deploy', 'deploy.inject_files'],
    ['service', 'deploy.inject_files'],
  ])('in %s it lists %s', async (kind, step) => {
    const { run } = await ramdisks.bench();
    const { reported } = await run('agent_steps', {}, { kind });
    expect(reported!.map((one) => `${one.interface}.${one.step}`)).toContain(step);
  });

  test('keeps priority, abortable, restart and arguments of a step', async () => {
    const { run } = await ramdisks.bench();
    const { reported } = await run('agent_steps', {}, { kind: 'clean' });
    expect(reported).toContainEqual({
      interface: 'deploy',
      step: 'erase_devices_metadata',
      priority: 99,
      abortable: true,
      argsinfo: {},
    });
    expect(reported!.find(({ step }) => step === 'update_nvidia_nic_firmware_image')).toMatchObject({
      reboot_requested: true,
      argsinfo: { images: { required: true } },
    });
  });

  test('in texts that can be stored and shown, whatever the ramdisk sends', async () => {
    const { run, fault } = await ramdisks.bench();
    fault({ kind: 'odd-texts' });
    const { reported } = await run('agent_steps', {}, { kind: 'clean' });
    expect(reported).toEqual([
      {
        interface: 'deploy',
        step: 'wipe\ufffdall',
        priority: 1,
        argsinfo: { 'how\ufffd': { description: 'so \ufffd' } },
      },
    ]);
  });

  test('a list that makes no sense is said to make none', async () => {
    const { failure, fault } = await ramdisks.bench();
    fault({ kind: 'odd-result' });
    const error = await failure('agent_steps', {}, { kind: 'clean' });
    expect(error.code).toBe('AgentServerError');
    expect(error.message).toMatch(/clean_steps/);
  });
});

describe('a step', () => {
  test('runs once, with its arguments, and says that it is done', async () => {
    const { run, destructive } = await ramdisks.bench();
    expect(await run('agent_step', { match_patterns: ['x'] }, inStep('clean_uefi_nvram'))).toMatchObject({
      is: 'done',
    });
    expect(destructive()).toMatchObject([{ step: 'deploy.clean_uefi_nvram', status: 'SUCCEEDED' }]);
  });

  test('that asks for a restart is done only after one', async () => {
    const { run } = await ramdisks.bench();
    const outcome = await run('agent_step', { images: [{}] }, inStep('update_nvidia_nic_firmware_image', 'service'));
    expect(outcome).toHaveProperty('follows', 'reboot');
  });

  test('that makes RAID volumes reports the configuration it made', async () => {
    const { run } = await ramdisks.bench();
    const target_raid_config = { logical_disks: [{ raid_level: '1', size_gb: 'MAX' }] };
    const outcome = await run(
      'agent_step',
      {},
      { ...inStep('create_configuration', 'clean', 'raid'), node: { target_raid_config } },
    );
    expect(outcome.seen).toEqual({ raid_config: target_raid_config });
  });

  test('that fails is refused in the ramdisk’s words', async () => {
    const { failure, fault } = await ramdisks.bench();
    fault({ kind: 'step-fails', match: 'erase_devices' });
    const error = await failure('agent_step', {}, erase);
    expect(error).toMatchObject({ code: 'StepRejected', retry: false });
    expect(error.message).toMatch(/deploy\.erase_devices.*a fault was asked for/);
  });

  test('for which the ramdisk has other versions is refused and says what to do', async () => {
    const { failure, fault } = await ramdisks.bench();
    fault({ kind: 'version-mismatch', match: 'execute_clean_step' });
    const error = await failure('agent_step', {}, erase);
    expect(error).toMatchObject({ code: 'StepRejected' });
    expect(error.message).toMatch(/start again/);
  });

  test('that the ramdisk does not have is refused before anything runs', async () => {
    const { failure, destructive } = await ramdisks.bench();
    const error = await failure('agent_step', {}, inStep('inject_files', 'clean'));
    expect(error).toMatchObject({ code: 'StepRejected' });
    expect(error.message).toMatch(/no such step; it has: .*deploy\.erase_devices/);
    expect(destructive()).toEqual([]);
  });

  test('whose result is another step’s has an unknown effect', async () => {
    const { failure, fault } = await ramdisks.bench();
    fault({ kind: 'odd-result', match: 'execute_clean_step' });
    expect(await failure('agent_step', {}, erase)).toMatchObject({ code: 'StepOutcomeUnknown' });
  });

  test('waits while the ramdisk is busy, and is not sent twice', async () => {
    const { run, fault, destructive } = await ramdisks.bench();
    fault({ kind: 'busy', match: 'execute_clean_step', remaining: 2 });
    await run('agent_step', {}, erase);
    expect(destructive()).toHaveLength(1);
  });

  test.each([
    ['busy', 'AgentBusy'],
    ['drop-before', 'AgentUnreachable'],
  ] as const)('gives its worker back when the ramdisk is idle and its every answer is %s', async (kind, code) => {
    const { failure, run, fault, destructive } = await ramdisks.bench();
    await run('agent_steps', {}, { kind: 'clean' });
    const timing = { ...quickTiming, settleMs: 10, powerTimeoutMs: 100 };
    const intents = { ...intentsOf('agent_step') };
    const record = async (detail: Readonly<Record<string, unknown>>) => {
      if (intents.kept.length === 0)
        fault({ kind, method: 'POST', remaining: 1_000_000, ...(kind === 'busy' && { match: 'execute' }) });
      await intents.record(detail);
    };
    const error = await failure('agent_step', {}, { ...erase, intents: { ...intents, record }, timing });
    expect(error).toMatchObject({ code, retry: true });
    expect(destructive()).toEqual([]);
  });

  test('gives its worker back when the ramdisk stays busy with something else', async () => {
    const { run, failure, fault } = await ramdisks.bench();
    fault({ kind: 'stuck', match: 'burnin_cpu' });
    const stop = new AbortController();
    const other = run(
      'agent_step',
      {},
      { ...inStep('burnin_cpu'), signal: stop.signal, beat: (told) => told?.status && stop.abort(new Error('stop')) },
    );
    await expect(other).rejects.toThrow('stop');
    const error = await failure('agent_step', {}, { ...erase, timing: { ...quickTiming, powerTimeoutMs: 30 } });
    expect(error).toMatchObject({ code: 'AgentBusy', retry: true });
    expect(error.message).toMatch(/execute_clean_step/);
  });
});

/** A first attempt that dies at its first look at the running command. */
const dieWatching = async (bench: Awaited<ReturnType<RamdiskBench['bench']>>, intents = intentsOf('agent_step')) => {
  const stop = new AbortController();
  const beat = (told?: Readonly<Record<string, unknown>>) =>
    told?.status === 'RUNNING' && stop.abort(new Error('killed'));
  const dying = bench.run(
    'agent_step',
    {},
    { ...erase, intents, signal: stop.signal, beat: (told) => void beat(told) },
  );
  await expect(dying).rejects.toThrow('killed');
  return intents;
};

describe('a step whose worker died', () => {
  test('is watched on by the next attempt, not sent again', async () => {
    const bench = await ramdisks.bench();
    const intents = await dieWatching(bench);
    expect(await bench.run('agent_step', {}, { ...erase, intents, attempt: 2 })).toMatchObject({ is: 'done' });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('and whose command has ended meanwhile is done', async () => {
    const bench = await ramdisks.bench();
    const intents = await dieWatching(bench);
    await ramdisks.api.beat(({ node }) => node === bench.node.uuid && bench.destructive()[0]?.status === 'SUCCEEDED');
    await bench.run('agent_step', {}, { ...erase, intents, attempt: 2 });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('and whose ramdisk has restarted has an unknown effect, and is not sent again', async () => {
    const bench = await ramdisks.bench();
    const intents = await dieWatching(bench);
    const agent = await bench.reboot();
    const error = await bench.failure('agent_step', {}, { ...erase, intents, attempt: 2, node: { agent } });
    expect(error).toMatchObject({ code: 'StepOutcomeUnknown', retry: false });
    expect(error.message).toMatch(/restarted/);
    expect(bench.destructive()).toHaveLength(1);
  });

  test('and whose ramdisk restarts while it is watched has an unknown effect', async () => {
    const bench = await ramdisks.bench();
    const forget = () => bench.fault({ kind: 'restart', method: 'GET' });
    let told = false;
    const beat = (details?: Readonly<Record<string, unknown>>) => {
      if (details?.status !== 'RUNNING' || told) return;
      told = true;
      forget();
    };
    expect(await bench.failure('agent_step', {}, { ...erase, beat })).toMatchObject({ code: 'StepOutcomeUnknown' });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('before the answer came is found by its place in the list', async () => {
    const bench = await ramdisks.bench();
    bench.fault({ kind: 'lost-reply', match: 'execute_clean_step' });
    await bench.run('agent_step', {}, erase);
    expect(bench.destructive()).toHaveLength(1);
  });

  test('after the intent and before the command is sent after the settle window, as it never arrived', async () => {
    const bench = await ramdisks.bench();
    const intents = intentsOf('agent_step');
    const stop = new AbortController();
    const record = async (detail: Readonly<Record<string, unknown>>) => {
      await intents.record(detail);
      stop.abort(new Error('killed'));
    };
    await expect(
      bench.run('agent_step', {}, { ...erase, intents: { ...intents, record }, signal: stop.signal }),
    ).rejects.toThrow('killed');
    expect(bench.destructive()).toEqual([]);
    await bench.run('agent_step', {}, { ...erase, intents, attempt: 2 });
    expect(bench.destructive()).toHaveLength(1);
  });
});

describe('a step whose worker died and whose ramdisk is silent, or another', () => {
  test('and whose ramdisk never answers again has an unknown effect after a while', async () => {
    const bench = await ramdisks.bench();
    const intents = await dieWatching(bench);
    ramdisks.agents.powerLost(bench.mac);
    const timing = { ...quickTiming, agentTimeoutMs: 0 };
    const more = { ...erase, intents, timing };
    expect(await bench.failure('agent_step', {}, { ...more, attempt: 2 })).toMatchObject({
      code: 'AgentUnreachable',
      retry: true,
    });
    const error = await bench.failure('agent_step', {}, { ...more, attempt: 3 });
    expect(error).toMatchObject({ code: 'StepOutcomeUnknown', retry: false });
    expect(error.message).toMatch(/has not answered since/);
  });

  test('and whose ramdisk is back in time is watched on', async () => {
    const bench = await ramdisks.bench();
    const intents = await dieWatching(bench);
    bench.fault({ kind: 'drop-before' });
    const more = { ...erase, intents, timing: { ...quickTiming, agentTimeoutMs: 0 } };
    expect(await bench.failure('agent_step', {}, { ...more, attempt: 2 })).toMatchObject({ code: 'AgentUnreachable' });
    expect(await bench.run('agent_step', {}, { ...more, attempt: 3 })).toMatchObject({ is: 'done' });
    expect(intents.kept.at(-1)!.detail).not.toHaveProperty('lost');
    expect(bench.destructive()).toHaveLength(1);
  });

  test.each([
    ['token', 'a-token-that-another-life-of-the-ramdisk-has'],
    ['verify_ca', null],
  ])('and whose ramdisk has another %s has an unknown effect', async (key, value) => {
    const bench = await ramdisks.bench();
    const intents = await dieWatching(bench);
    const agent = { ...bench.agent, [key]: value };
    const error = await bench.failure('agent_step', {}, { ...erase, intents, attempt: 2, node: { agent } });
    expect(error).toMatchObject({ code: 'StepOutcomeUnknown' });
  });
});

describe('a step that is tried again', () => {
  test('reports a failure again instead of running the step again', async () => {
    const bench = await ramdisks.bench();
    bench.fault({ kind: 'step-fails', match: 'execute_clean_step' });
    const intents = intentsOf('agent_step');
    await bench.failure('agent_step', {}, { ...erase, intents });
    expect(await bench.failure('agent_step', {}, { ...erase, intents, attempt: 2 })).toMatchObject({
      code: 'StepRejected',
    });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('leaves an equal step that ran before it out of account', async () => {
    const bench = await ramdisks.bench();
    await bench.run('agent_step', {}, erase);
    await bench.run('agent_step', {}, { ...erase, step: { ...erase.step, index: 1 } });
    expect(bench.destructive()).toHaveLength(2);
  });

  test('writes no secret into its intent', async () => {
    const bench = await ramdisks.bench();
    const intents = intentsOf('agent_step');
    await bench.run(
      'agent_step',
      { container_url: 'https://user:hunter2@example.org/x' },
      { ...inStep('generic_container_step'), intents },
    );
    expect(JSON.stringify(intents.kept)).not.toContain('hunter2');
    expect(JSON.stringify(intents.kept)).not.toContain(bench.agent.token);
  });
});

describe('a step whose intent a restored database has lost', () => {
  /** As after a restore: the command has been carried out, and the record has no intent of it. */
  const afterRestore = { ...erase, doubted: true, unrepeated: true };

  test('is done where the ramdisk shows its command, and is not sent again', async () => {
    const bench = await ramdisks.bench();
    await bench.run('agent_step', {}, erase);
    expect(await bench.run('agent_step', {}, afterRestore)).toMatchObject({ is: 'done' });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('is unknown where the ramdisk shows no such command: that it never left is not proven', async () => {
    const bench = await ramdisks.bench();
    await bench.run('agent_step', {}, inStep('erase_devices_metadata'));
    expect(await bench.failure('agent_step', {}, afterRestore)).toMatchObject({ code: 'StepOutcomeUnknown' });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('is unknown where the run has such a step twice: the command may be the other one’s', async () => {
    const bench = await ramdisks.bench();
    await bench.run('agent_step', {}, erase);
    const error = await bench.failure('agent_step', {}, { ...afterRestore, unrepeated: false });
    expect(error).toMatchObject({ code: 'StepOutcomeUnknown' });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('is unknown where the command had other arguments', async () => {
    const bench = await ramdisks.bench();
    await bench.run('agent_step', { match_patterns: ['x'] }, inStep('clean_uefi_nvram'));
    const other = { ...afterRestore, ...inStep('clean_uefi_nvram') };
    expect(await bench.failure('agent_step', {}, other)).toMatchObject({ code: 'StepOutcomeUnknown' });
    expect(bench.destructive()).toHaveLength(1);
  });

  test('is unknown where a command failed beside it, for that does not show what it was', async () => {
    const bench = await ramdisks.bench();
    await bench.run('agent_step', {}, erase);
    bench.fault({ kind: 'step-fails', match: 'erase_devices_metadata' });
    await bench.failure('agent_step', {}, inStep('erase_devices_metadata'));
    expect(await bench.failure('agent_step', {}, afterRestore)).toMatchObject({ code: 'StepOutcomeUnknown' });
  });
});
