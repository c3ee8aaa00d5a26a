/** Recovery after a restore: state, preview of the remedy, and its execution. */
import { z } from 'zod';
import type { Recovered } from '../../../runs/contract';
import * as shapes from '../../../wire/installation';
import { auditRow } from '../../audit/record';
import { type ApiRequest, ok, type Route, route } from '../../server/route';

const recoveryPath = '/temper/v1/recovery';
const recoveryRules = { get: 'temper:recovery:get', end: 'temper:recovery:end' } as const;

const recoveryBody = z.strictObject({ yes: z.boolean().default(false) });
type RecoveryBody = z.output<typeof recoveryBody>;

const recoveryView = ({ recovery, lines }: Recovered, done: boolean) => ({
  recovery: recovery && { side: recovery.side, reason: recovery.reason, since: recovery.since.toISOString() },
  done,
  lines,
});

const showRecovery = route({
  method: 'GET',
  path: recoveryPath,
  answers: { 200: shapes.recovery },
  rules: [recoveryRules.get],
  async handler({ who }, { policy, inventory }) {
    policy().require(recoveryRules.get, who);
    return ok(recoveryView({ recovery: (await inventory.recovery.current()) ?? null, lines: [] }, false));
  },
});

const endRecovery = route({
  method: 'POST',
  path: recoveryPath,
  asks: recoveryRules.end,
  answers: { 200: shapes.recovery },
  rules: [recoveryRules.end],
  duringRecovery: true,
  body: recoveryBody,
  async handler(request: ApiRequest<unknown, unknown, RecoveryBody>, { policy, inventory, runs }) {
    const { who, body: given } = request;
    policy().require(recoveryRules.end, who);
    const recovered = await runs.recover(given.yes);
    await inventory.audit.write(
      auditRow(policy(), request, {
        action: given.yes ? 'recovery.end' : 'recovery.look',
        rule: recoveryRules.end,
        resource: 'recovery',
        resource_id: '',
        data: { reason: recovered.recovery?.reason ?? null, lines: recovered.lines.slice(0, 1_000) },
      }),
    );
    return ok(recoveryView(recovered, given.yes && recovered.recovery !== null));
  },
});

export const recoveryRoutes: readonly Route[] = [showRecovery, endRecovery];
