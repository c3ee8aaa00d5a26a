/** Runs the configured strategies in order and returns a caller or throws. */
import type { Caller } from '../model/access/callers';
import { raise, unreachable } from '../model/errors';
import type { Presented, Strategy, StrategyName } from './strategy';

export type Identity = {
  /** @throws Unauthenticated with facts {challenge, reason}; IdentityUnavailable with facts {reason} */
  identify(presented: Presented): Promise<Caller>;
  /** WWW-Authenticate of a 401; empty under noauth. */
  readonly challenge: string;
  readonly strategies: readonly StrategyName[];
  close(): Promise<void>;
};

type Setback = { readonly is: 'refused' | 'unavailable'; readonly reason: string };

/**
 * The first strategy that accepts a credential wins. After a refusal, only a later strategy for the same kind of
 * credential may accept it, such as static tokens after Keystone.
 */
export const createIdentity = (strategies: readonly Strategy[]): Identity => {
  const names = strategies.map(({ name }) => name);
  demandSense(names);
  const challenge = strategies.flatMap((strategy) => strategy.challenge || []).join(', ');

  const identify = async (presented: Presented): Promise<Caller> => {
    const setbacks = new Map<Strategy['reads'], Setback>();
    for (const [index, strategy] of strategies.entries()) {
      const verdict = await strategy.identify(presented);
      switch (verdict.is) {
        case 'known':
          return verdict.caller;
        case 'absent':
          break;
        case 'refused':
        case 'unavailable':
          // The unavailable strategy may be the one that has this caller.
          if (setbacks.get(strategy.reads)?.is !== 'unavailable') setbacks.set(strategy.reads, verdict);
          break;
        default:
          unreachable(verdict);
      }
      const setback = setbacks.get(strategy.reads);
      const second = strategies.slice(index + 1).some(({ reads }) => reads === strategy.reads);
      if (setback && !second) return fail(setback, challenge);
    }
    return raise('Unauthenticated', { challenge, reason: 'no credentials were presented' });
  };

  const close = async (): Promise<void> => {
    await Promise.all(strategies.map(async (strategy) => strategy.close?.()));
  };
  return { identify, challenge, strategies: names, close };
};

const fail = ({ is, reason }: Setback, challenge: string): never =>
  is === 'refused' ? raise('Unauthenticated', { challenge, reason }) : raise('IdentityUnavailable', { reason });

const demandSense = (names: readonly StrategyName[]): void => {
  const wrong = (reason: string): never => raise('InvalidInput', { field: 'authentication strategies', reason });
  if (names.length === 0) wrong('name at least one of keystone, oidc, http_basic, static_tokens, noauth');
  if (new Set(names).size < names.length) wrong('each may be named once');
  if (names.includes('noauth') && names.length > 1)
    wrong('noauth admits every request, so it cannot be combined with another strategy');
};
