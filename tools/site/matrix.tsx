/** The matrices of the policy as tables, read from the text that `npm run gen` writes. */
import { renderToString } from 'preact-render-to-string';
import { anchorsOfPage } from './anchors';
import type { Passage, Rendered } from './types';

const groups = ['system', 'owner', 'lessee', 'stranger'];
const roles = ['admin', 'manager', 'member', 'reader', 'service'];
const columns = groups.flatMap((group) => roles.map((role) => `${role} of ${group}`));

type Row = { readonly id: string; readonly rule: string; readonly cells: readonly string[] };
type Section = { readonly id: string; readonly title: string; readonly rows: readonly Row[] };

/** Sections: a title, its underline, two lines of heads, and a line for each rule. */
const read = (text: string) => {
  const anchors = anchorsOfPage();
  const [legend = '', ...blocks] = text.split(/^(?=.+\n=+$)/m);
  const sections = blocks.map((block): Section => {
    const [title = '', , , , ...lines] = block.trim().split('\n');
    const id = anchors.name(title.replaceAll('"', ''));
    const rows = lines.map((line): Row => {
      const [rule = '', ...cells] = line.split(/\s+/);
      if (cells.length !== columns.length) throw new Error(`A matrix has the row "${line}", which this page cannot show.`);
      return { id: anchors.name(rule), rule, cells };
    });
    return { id, title: title.replaceAll('"', ''), rows };
  });
  return { legend: legend.trim(), sections, anchors: anchors.given };
};

const Heads = () => (
  <thead>
    <tr>
      <th scope="col" rowSpan={2}>
        rule
      </th>
      {groups.map((group) => (
        <th scope="colgroup" colSpan={roles.length}>
          {group}
        </th>
      ))}
    </tr>
    <tr>
      {groups.flatMap((group) =>
        roles.map((role) => (
          <th scope="col" class={role === 'admin' ? 'first' : undefined}>
            <abbr title={`${role} of ${group}`}>{{ admin: 'A', manager: 'M', member: 'm', reader: 'r', service: 's' }[role]}</abbr>
          </th>
        )),
      )}
    </tr>
  </thead>
);

const Table = ({ title, rows }: Section) => (
  <div class="table" tabIndex={0} role="group" aria-label={title}>
    <table class="matrix">
      <Heads />
      <tbody>
        {rows.map(({ id, rule, cells }) => (
          <tr id={id}>
            <th scope="row">
              <code>{rule}</code>
            </th>
            {cells.map((cell, index) => (
              <td class={`${cell === 'Y' ? 'yes' : 'no'}${index % roles.length === 0 ? ' first' : ''}`}>
                {cell === 'Y' ? 'Y' : '·'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const allowedIn = ({ cells }: Row): string =>
  columns.filter((_, index) => cells[index] === 'Y').join(', ') || 'no caller';

export const renderMatrixPage = (title: string, text: string): Rendered => {
  const { legend, sections, anchors } = read(text);
  const passages: Passage[] = sections.flatMap(({ title: about, rows }) =>
    rows.map((row) => ({ id: row.id, heading: row.rule, text: `${about}: ${allowedIn(row)}` })),
  );
  return {
    title,
    anchors,
    passages,
    links: [],
    headings: sections.map(({ id, title: text }) => ({ level: 2, id, text })),
    html: renderToString(
      <>
        <h1>{title}</h1>
        <p>{legend.replaceAll('\n', ' ').replace('. may not', '· may not')}</p>
        {sections.map((section) => (
          <section>
            <h2 id={section.id}>{section.title}</h2>
            <Table {...section} />
          </section>
        ))}
      </>,
    ),
  };
};
