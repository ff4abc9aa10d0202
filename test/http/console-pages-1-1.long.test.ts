import { consolePagesSuite } from '../support/suites/console-pages.js';
import { EDITIONS } from '../support/settings.js';

consolePagesSuite(...EDITIONS['1.1.0']);
