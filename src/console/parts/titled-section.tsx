/** Section of a page under a heading. */
import type { ComponentChildren } from 'preact';

export const TitledSection = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
);
