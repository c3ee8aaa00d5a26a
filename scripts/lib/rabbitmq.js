/** RabbitMQ with its Erlang, to try notifications on. As a program it prints `{"programs": {...}}` or `{"missing": reason}`. */

const { unpackedPrograms } = require('../../tools/offline/debian');
const { tell } = require('./told');

/**
 * The first one only sets variables: the others leave Erlang's name server behind. The system's own program changes to a user of its own, so the packages' is used in any case.
 */
const wanted = {
  cache: 'rabbitmq',
  packages: ['rabbitmq-server'],
  names: ['rabbitmq-defaults', 'rabbitmq-server'],
  folder: 'usr/lib/rabbitmq/bin',
  check: '',
  data: ['usr/lib/erlang', 'usr/lib/rabbitmq'],
};

tell(unpackedPrograms(wanted).then((programs) => ({ programs })));
