/** The API's description as tables: every request by its resource, and the fields of what it answers. */
import { renderToString } from 'preact-render-to-string';
import { anchorsOfPage } from './anchors';
import type { Heading, Passage, Rendered } from './types';

type Schema = {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-since'?: string;
};
type Parameter = { readonly name?: string; readonly in?: string };
type Operation = {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly 'x-since'?: string;
  readonly 'x-rules'?: readonly string[];
};
type Description = {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

type Request = Operation & { readonly id: string; readonly method: string; readonly path: string };

/** `/v1/nodes/{node_ident}/ports` belongs to `/v1/nodes`. */
const resourceOf = (path: string): string => /^(?:\/temper)?\/v1\/[^/{]+/.exec(path)?.[0] ?? 'Versions';

const typeOf = ({ type, format, $ref, items, enum: values }: Schema): string => {
  if ($ref) return $ref.split('/').at(-1)!;
  if (values) return values.map(String).join(' | ');
  const named = [type ?? 'any'].flat().join(' or ') + (format ? ` (${format})` : '');
  return items ? `${named} of ${typeOf(items)}` : named;
};

const queryOf = ({ parameters = [] }: Operation): string =>
  parameters.flatMap(({ name, in: place }) => (place === 'query' && name ? [name] : [])).join(', ');

const Rules = ({ rules }: { readonly rules: readonly string[] }) =>
  rules.length < 3 ? (
    <>{rules.map((rule) => <code>{rule} </code>)}</>
  ) : (
    <details>
      <summary>{rules.length} rules</summary>
      {rules.map((rule) => (
        <code>{rule} </code>
      ))}
    </details>
  );

const Requests = ({ title, requests }: { readonly title: string; readonly requests: readonly Request[] }) => (
  <div class="table" tabIndex={0} role="group" aria-label={`Requests of ${title}`}>
    <table class="requests">
      <thead>
        <tr>
          {['request', 'what it does', 'since', 'rules'].map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {requests.map((request) => (
          <tr id={request.id}>
            <td>
              <b class={`method ${request.method}`}>{request.method.toUpperCase()}</b> <code>{request.path}</code>
            </td>
            <td>
              {request.summary}
              {queryOf(request) && <small>Query: {queryOf(request)}</small>}
              <small>Answers: {Object.keys(request.responses).join(', ')}</small>
            </td>
            <td>{request['x-since']}</td>
            <td>
              <Rules rules={request['x-rules'] ?? []} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Fields = ({ name, schema }: { readonly name: string; readonly schema: Schema }) => (
  <div class="table" tabIndex={0} role="group" aria-label={`Fields of ${name}`}>
    <table>
      <thead>
        <tr>
          {['field', 'type', 'since', 'meaning'].map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.entries(schema.properties ?? {}).map(([field, inner]) => (
          <tr>
            <td>
              <code>{field}</code>
            </td>
            <td>{typeOf(inner)}</td>
            <td>{inner['x-since']}</td>
            <td>{inner.description}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

export const renderApiPage = (text: string): Rendered => {
  const { info, paths, components }: Description = JSON.parse(text);
  const anchors = anchorsOfPage();
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Request => ({ ...operation, method, path, id: '' })),
  );
  const sections = [...new Set(requests.map(({ path }) => resourceOf(path)))].map((title) => ({
    title,
    id: anchors.name(title),
    requests: requests
      .filter(({ path }) => resourceOf(path) === title)
      .map((request) => ({ ...request, id: anchors.name(request.operationId) })),
  }));
  const schemas = Object.entries(components.schemas)
    .filter(([, { properties }]) => properties)
    .map(([name, schema]) => ({ name, schema, id: anchors.name(`schema ${name}`) }));
  const headings: Heading[] = [
    ...sections.map(({ id, title }) => ({ level: 2, id, text: title })),
    ...schemas.map(({ id, name }) => ({ level: 2, id, text: name })),
  ];
  const passages: Passage[] = sections.flatMap(({ requests: inside }) =>
    inside.map(({ id, method, path, summary = '' }) => ({ id, heading: `${method.toUpperCase()} ${path}`, text: summary })),
  );
  return {
    title: 'Requests of the API',
    headings,
    passages,
    anchors: anchors.given,
    links: [],
    html: renderToString(
      <>
        <h1>Requests of the API</h1>
        <p>{info.description}</p>
        <p>
          The same as a document for programs: <a href="openapi.json">openapi.json</a>.
        </p>
        {sections.map(({ id, title, requests: inside }) => (
          <section>
            <h2 id={id}>{title}</h2>
            <Requests title={title} requests={inside} />
          </section>
        ))}
        {schemas.map(({ id, name, schema }) => (
          <section>
            <h2 id={id}>{name}</h2>
            <Fields name={name} schema={schema} />
          </section>
        ))}
      </>,
    ),
  };
};
