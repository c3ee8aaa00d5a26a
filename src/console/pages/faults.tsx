/** Error pages: a refusal in the API's own words, or an unavailable API. */
import type { VNode } from 'preact';
import { Notice } from '../parts/texts';

const titles: Readonly<Record<number, string>> = {
  400: 'Not possible',
  403: 'Not permitted',
  404: 'Not found',
  409: 'Not now',
  429: 'Too many requests',
};

// Policy rules are written resource:act.
const ruleIn = (says: string): string | undefined =>
  /\b(?:baremetal|temper|introspection):[a-z0-9_:-]+/.exec(says)?.[0];

export const titleOf = (status: number): string =>
  titles[status] ?? (status >= 500 ? 'The API is in trouble' : 'Refused');

/** @param says text of the API @param back page of the refused form */
export const refusalPage = (status: number, says: string, back?: string): VNode => {
  const rule = status === 403 ? ruleIn(says) : undefined;
  return (
    <>
      <h1>{titleOf(status)}</h1>
      <Notice tone="bad" role="alert" says={says} />
      {rule && (
        <p>
          The rule <code>{rule}</code> does not admit you as you are signed in.{' '}
          <a href={`/policy?rule=${encodeURIComponent(rule)}`}>Why?</a> The managers of the project that owns the object
          know who may; the system’s administrators can change the rule.
        </p>
      )}
      {status === 404 && <p>It does not exist, or you may not see it: the API answers alike.</p>}
      {back && <p><a href={back}>Back to the page</a></p>}
      <p class="muted">HTTP {status}</p>
    </>
  ); // biome-ignore format: short parts
};

/** @param says service that did not answer */
export const awayPage = (says: string): VNode => (
  <>
    <h1>The API is away</h1>
    <Notice tone="bad" role="alert" says={says} />
    <p>
      The console shows what the API answers, and can show nothing now. Runs that are under way go on without it. Load
      this page again in a moment.
    </p>
  </>
);
