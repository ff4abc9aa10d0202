import { clientSuite } from '../support/suites/client.js';
import { EDITIONS } from '../support/settings.js';

clientSuite(...EDITIONS['1.1.0']);
