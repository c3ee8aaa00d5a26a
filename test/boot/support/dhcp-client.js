// A DHCP client of a few lines: sends DHCPDISCOVER for each machine of its arguments (MAC,architecture,ipxe|firmware) and prints
// boot file and address of each offer as JSON, null where no offer came before the last machine, which is always answered, had its own.
// Runs in a network namespace of its own.
const { createSocket } = require('node:dgram');

const machines = process.argv.slice(2).map((text) => {
  const [mac, arch, kind] = text.split(',');
  return { mac, arch: Number(arch), ipxe: kind === 'ipxe' };
});

const option = (code, bytes) => Buffer.from([code, bytes.length, ...bytes]);
const discover = ({ mac, arch, ipxe }, xid) => {
  const fixed = Buffer.alloc(236);
  fixed.set([1, 1, 6, 0]);
  fixed.writeUInt32BE(xid, 4);
  fixed.writeUInt16BE(0x8000, 10); // answers by broadcast
  fixed.set(Buffer.from(mac.replaceAll(':', ''), 'hex'), 28);
  return Buffer.concat([
    fixed,
    Buffer.from([0x63, 0x82, 0x53, 0x63]),
    option(53, [1]),
    option(60, Buffer.from(arch === 16 ? 'HTTPClient:Arch:00016' : `PXEClient:Arch:${String(arch).padStart(5, '0')}`)),
    option(93, [0, arch]),
    option(55, [1, 3, 43, 60, 66, 67]),
    ...(ipxe ? [option(77, Buffer.from('iPXE'))] : []),
    Buffer.from([255]),
  ]);
};

const textOf = (bytes) => bytes.toString('latin1').replace(/\0.*$/s, '');
const offerOf = (message) => {
  let name = textOf(message.subarray(108, 236));
  for (let at = 240; message[at] !== 255 && at < message.length; at += 2 + message[at + 1])
    if (message[at] === 67) name = textOf(message.subarray(at + 2, at + 2 + message[at + 1]));
  return { xid: message.readUInt32BE(4), offer: { file: name, address: message.subarray(16, 20).join('.') } };
};

const socket = createSocket({ type: 'udp4', reuseAddr: true });
const offers = new Map();
const send = () =>
  machines.forEach((machine, at) => void (offers.has(at) || socket.send(discover(machine, at), 67, '255.255.255.255')));
socket.on('message', (message) => {
  const { xid, offer } = offerOf(message);
  offers.set(xid, offer);
  if (!offers.has(machines.length - 1)) return;
  console.log(JSON.stringify(machines.map((_, at) => offers.get(at) ?? null)));
  process.exit(0);
});
socket.bind(68, '0.0.0.0', () => {
  socket.setBroadcast(true);
  send();
  setInterval(send, 500);
});
