/** Webhooks that are allowed but cannot be signed are a fault of the settings, reported before anything is served. */
import { good, run } from './support/entries';

test.concurrent.each(['api', 'worker control'] as const)(
  '%s refuses to start with origins of webhooks and no key',
  async (command) => {
    const env = command === 'api' ? good.api : good.control;
    const { status, err } = await run(command, { ...env, TEMPER_WEBHOOK_ORIGINS: 'https://hooks.example.org' });
    expect(status).toBe(78);
    expect(err).toContain('TEMPER_WEBHOOK_KEYS: is not set, and TEMPER_WEBHOOK_ORIGINS allows webhooks');
  },
);
