import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import autocannon from 'autocannon';
import express from 'express';
import { connect } from '../../src/inventory/database';
import { addWorker, startTestApi } from '../support/api';

test('perf', async () => {
  const api = await startTestApi();
  await addWorker(api.sql);
  const made = await api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name: 'n0',
      driver: 'redfish',
      owner: 'project-owner',
      driver_info: { redfish_address: 'https://192.0.2.1', redfish_password: 'x' },
    },
  });
  for (let i = 1; i < 1000; i++)
    await api.as('operator', 'POST', '/v1/nodes', {
      body: { name: `n${i}`, driver: 'fake-hardware', owner: i % 2 ? 'project-owner' : 'x' },
    });
  const url = api.sql.options as any;
  const pool = connect(`postgres://${url.user}:${url.pass}@${url.host[0]}:${url.port[0]}/${url.database}`, { max: 4 });
  const app = express();
  const show = (await api.as('operator', 'GET', '/v1/nodes/n0')).body;
  const list = (await api.as('operator', 'GET', '/v1/nodes')).body;
  app.get('/show/:id', async (q, r) => {
    await pool`select * from nodes where uuid = ${q.params.id}`;
    r.json(show);
  });
  app.get('/list', async (_q, r) => {
    await pool`select uuid,name,instance_uuid,maintenance,power_state,provision_state from nodes order by id limit 1000`;
    r.json(list);
  });
  app.post('/create', express.json(), async (q, r) => {
    await pool`insert into nodes ${pool({ driver: q.body.driver, uuid: randomUUID(), name: randomUUID() })} returning *`;
    r.status(201).json(show);
  });
  const server = createServer(app);
  server.listen(0);
  await once(server, 'listening');
  const bare = `http://127.0.0.1:${(server.address() as any).port}`;
  const run = async (u: string, o: object = {}) => {
    const r = await autocannon({
      url: u,
      connections: 8,
      duration: 4,
      headers: {
        'x-auth-token': (o as any).who ?? 'operator',
        'x-openstack-ironic-api-version': '1.115',
        'content-type': 'application/json',
      },
      ...o,
    } as any);
    return [Math.round(r.requests.average), r.non2xx];
  };
  const out: any = {};
  for (const round of [1, 2]) {
    out['bare show' + round] = await run(`${bare}/show/${made.body.uuid}`);
    out['our show' + round] = await run(`${api.url}/v1/nodes/${made.body.uuid}`);
    out['our show member' + round] = await run(`${api.url}/v1/nodes/${made.body.uuid}`, { who: 'owner-member' });
    out['bare list' + round] = await run(`${bare}/list`);
    out['our list' + round] = await run(`${api.url}/v1/nodes`);
    out['our list member' + round] = await run(`${api.url}/v1/nodes`, { who: 'owner-member' });
  }
  out['bare create'] = await run(`${bare}/create`, { method: 'POST', body: '{"driver":"fake-hardware"}' });
  out['our create'] = await run(`${api.url}/v1/nodes`, { method: 'POST', body: '{"driver":"fake-hardware"}' });
  console.log(JSON.stringify(out, null, 1));
  server.closeAllConnections();
  server.close();
  await pool.end();
  await api.close();
}, 120000);
