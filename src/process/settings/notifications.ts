/** Settings of the process that sends Ironic's notifications. */
import { z } from 'zod';
import { notificationLevels } from '../../model/notifications/notice';
import { amqpUrls, commaList, flag, nonEmptyText } from './kinds';

export const notificationSettings = {
  TEMPER_NOTIFICATIONS_URL: amqpUrls.describe(
    'RabbitMQ with user, password and virtual host, such as amqps://temper:PASSWORD@rabbit.example.org:5671/openstack; those of a cluster separated by commas, of which the first that answers is used.',
  ),
  TEMPER_NOTIFICATIONS_CA_FILE: nonEmptyText
    .optional()
    .describe('File with the certificates (PEM) that RabbitMQ’s must be signed by; the system’s own when unset.'),
  TEMPER_NOTIFICATIONS_LEVEL: z
    .enum(notificationLevels)
    .default('info')
    .describe('Notifications below this level are not sent, as [DEFAULT] notification_level of Ironic.'),
  TEMPER_NOTIFICATIONS_EXCHANGE: nonEmptyText
    .default('ironic')
    .describe('Exchange that they are sent to, as control_exchange of Ironic.'),
  TEMPER_NOTIFICATIONS_TOPICS: commaList
    .default(['ironic_versioned_notifications'])
    .refine((topics) => topics.length > 0, 'names no topic; name at least one')
    .describe('Topics that each is sent to, as [DEFAULT] versioned_notifications_topics of Ironic (comma-separated).'),
  TEMPER_NOTIFICATIONS_DURABLE_QUEUES: flag
    .default(true)
    .describe(
      'Whether an exchange and queues that are not there yet are made durable, as amqp_durable_queues of the listeners says. What is there stays as it is.',
    ),
  TEMPER_NOTIFICATIONS_HOST: nonEmptyText
    .optional()
    .describe('Name behind ironic-api. and ironic-conductor. in publisher_id; the host’s name when unset.'),
};
