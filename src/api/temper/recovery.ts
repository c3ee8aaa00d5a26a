/** Recovery on the wire: whether a restore holds everything back, what would be done about it, and doing it. */
import { z } from 'zod';
import type { Recovered } from '../../runs/contract';
import { auditRow } from '../audit/record';
import { type Asking, ok, type Route, route } from '../http/route';
import * as shapes from './shapes';

const path = '/temper/v1/recovery';
const rules = { get: 'temper:recovery:get', end: 'temper:recovery:end' } as const;

const body = z.strictObject({ yes: z.boolean().default(false) });
type Body = z.output<typeof body>;

const shown = ({ recovery, lines }: Recovered, done: boolean) => ({
  recovery: recovery && { side: recovery.side, reason: recovery.reason, since: recovery.since.toISOString() },
  done,
  lines,
});

const show = route({
  method: 'GET',
  path,
  answers: { 200: shapes.recovery },
  rules: [rules.get],
  async handler({ who }, { policy, inventory }) {
    policy().require(rules.get, who);
    return ok(shown({ recovery: (await inventory.recovery.current()) ?? null, lines: [] }, false));
  },
});

const end = route<unknown, unknown, Body>({
  method: 'POST',
  path,
  asks: rules.end,
  answers: { 200: shapes.recovery },
  rules: [rules.end],
  duringRecovery: true,
  body,
  async handler(asking: Asking<unknown, unknown, Body>, { policy, inventory, runs }) {
    const { who, body: given } = asking;
    policy().require(rules.end, who);
    const recovered = await runs.recover(given.yes);
    await inventory.audit.write(
      auditRow(policy(), asking, {
        action: given.yes ? 'recovery.end' : 'recovery.look',
        rule: rules.end,
        resource: 'recovery',
        resource_id: '',
        data: { reason: recovered.recovery?.reason ?? null, lines: recovered.lines.slice(0, 1_000) },
      }),
    );
    return ok(shown(recovered, given.yes && recovered.recovery !== null));
  },
});

export const recoveryRoutes: readonly Route[] = [show, end];
