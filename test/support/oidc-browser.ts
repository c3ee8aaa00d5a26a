/** A browser without a screen, which fills in the pages of the OIDC server until they end. */

const textOfAttribute = (html: string): string =>
  html.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');

/** Undefined if the page has no form. */
const formIn = (html: string): { readonly action: string; readonly fields: Record<string, string> } | undefined => {
  const form = /<form\b[^>]*\baction="([^"]*)"/i.exec(html);
  if (!form) return undefined;
  const inputs = [...html.matchAll(/<input\b[^>]*>/gi)].map(([input]) => {
    const [, name = ''] = /\bname="([^"]*)"/.exec(input) ?? [];
    const [, value = ''] = /\bvalue="([^"]*)"/.exec(input) ?? [];
    return [name, textOfAttribute(value)] as const;
  });
  return { action: textOfAttribute(form[1]!), fields: Object.fromEntries(inputs.filter(([name]) => name !== '')) };
};

type Visit = { readonly url: string; readonly form?: URLSearchParams };

/** @param account signs in and consents @param end an address that is not visited @returns the last address, and its page */
export const browseAs = async (
  account: string,
  start: string,
  end?: string,
): Promise<{ readonly url: string; readonly page: string }> => {
  const jar = new Map<string, string>();
  let next: Visit = { url: start };
  for (let visits = 0; visits < 20; visits++) {
    const { url, form } = next;
    if (end !== undefined && url.startsWith(end)) return { url, page: '' };
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(url, {
      method: form ? 'POST' : 'GET',
      body: form,
      headers: { cookie },
      redirect: 'manual',
    });
    for (const line of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split(/=(.*)/s);
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const page = await reply.text();
    const location = reply.headers.get('location');
    const found = formIn(page);
    if (location) next = { url: new URL(location, url).href };
    else if (found) {
      const given = { ...found.fields, ...('login' in found.fields && { login: account, password: 'any' }) };
      next = { url: new URL(found.action, url).href, form: new URLSearchParams(given) };
    } else return { url, page };
  }
  throw new Error(`The pages of the OIDC server did not end at ${next.url}.`);
};
