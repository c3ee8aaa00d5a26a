/** What every route of ports shares: its paths and how a port is shown. */
import { z } from 'zod';
import { portTable } from '../../../model/resources/ports';
import { links, projections } from '../../resource/representation';

export const portCollection = '/v1/ports';
export const portPath = '/v1/ports/:port_ident';
export const portParams = z.object({ port_ident: z.string() });

export const shownPort = projections(portTable, {
  links: (row, { base }) => links(base, `ports/${row.uuid}`),
});
