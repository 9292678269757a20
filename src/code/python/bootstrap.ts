/**
 * PURE. The start program of python_exec's interpreter: it reads programs from a descriptor and
 * provides the `cordon` module.
 */

/** `[capabilities.python]`. */
export interface ModulePolicy {
  /** Null: every module. */
  readonly allowed: readonly string[] | null
  readonly blocked: readonly string[]
}

/**
 * Starts the interpreter isolated from the environment, the working directory and user packages.
 */
export function pythonArgv(python: string, modules: ModulePolicy): string[] {
  return [python, '-I', '-B', '-X', 'utf8', '-c', BOOTSTRAP, JSON.stringify(modules)]
}

/**
 * The protocol's descriptors are moved away from 0 and 1 and not inherited: stray output goes to
 * stderr, and programs read nothing. A program that finds them can only make guarded calls. Both
 * module lists apply to the program's imports, the blocked list also to imports of modules. A
 * program can undo that; the sandbox is the boundary.
 */
const BOOTSTRAP = String.raw`
import ast, base64, builtins, importlib, io, json, os, sys, threading, traceback, types

_in = os.fdopen(os.dup(0), 'rb')
_out = os.fdopen(os.dup(1), 'wb')
_null = os.open(os.devnull, os.O_RDWR)
os.dup2(_null, 0)
os.dup2(2, 1)
_policy = json.loads(sys.argv[1])
sys.argv = ['program']
_send_lock = threading.Lock()
_call_lock = threading.Lock()
_run = 0
_id = 0

def _send(frame):
    line = json.dumps(frame).encode() + b'\n'
    with _send_lock:
        _out.write(line)
        _out.flush()

class _Stream(io.TextIOBase):
    def __init__(self, name):
        self._name = name
    def writable(self):
        return True
    def write(self, text):
        text = str(text)
        for start in range(0, len(text), 65536):
            _send({'kind': 'out', 'run': _run, 'stream': self._name, 'text': text[start:start + 65536]})
        return len(text)
    def fileno(self):
        return 1 if self._name == 'stdout' else 2

class ToolError(Exception):
    """A guarded call that was not done, or failed."""
    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code

class Text(str):
    """What a tool said; .data is the same for programs."""
    data = None

def _call(tool, given):
    global _id
    with _call_lock:
        _id += 1
        _send({'kind': 'call', 'run': _run, 'id': _id, 'tool': tool, 'input': given})
        while True:
            line = _in.readline()
            if not line:
                os._exit(0)
            answer = json.loads(line)
            if answer.get('kind') == 'stop':
                os._exit(0)
            if answer.get('kind') == 'answer' and answer.get('id') == _id:
                break
    value = answer['value']
    if not answer['ok']:
        raise ToolError(value['text'], value.get('code'))
    text = Text(value['text'])
    text.data = value.get('data')
    return text

def _tool(name, first):
    def call(*words, **given):
        if words:
            if first is None or len(words) > 1 or first in given:
                raise TypeError(f'{name} takes its arguments by name')
            given[first] = words[0]
        return _call(name, given)
    call.__name__ = name
    return call

cordon = types.ModuleType('cordon', 'The guarded tools of this session.')
cordon.ToolError = ToolError
cordon.call = lambda tool, **given: _call(tool, given)
sys.modules['cordon'] = cordon

def _within(name, modules):
    return any(name == one or name.startswith(one + '.') for one in modules)

def _why_not(name):
    if name == 'cordon':
        return None
    if _within(name, _policy['blocked']):
        return 'is blocked'
    allowed = _policy['allowed']
    if allowed is not None and not _within(name, allowed) and not any(one.startswith(name + '.') for one in allowed):
        return 'is not among the allowed modules'
    return None

def _check(name):
    why = _why_not(name)
    if why:
        raise ImportError(f'{name} {why}, by [capabilities.python]')

_real_import = builtins.__import__
def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0:
        _check(name)
        for one in fromlist or ():
            if _within(f'{name}.{one}', _policy['blocked']):
                raise ImportError(f'{name}.{one} is blocked, by [capabilities.python]')
    return _real_import(name, globals, locals, fromlist, level)

_real_import_module = importlib.import_module
def _import_module(name, package=None):
    _check(name)
    return _real_import_module(name, package)
importlib.import_module = _import_module

class _Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if _within(name, _policy['blocked']):
            raise ImportError(f'{name} is blocked, by [capabilities.python]')
        return None
sys.meta_path.insert(0, _Blocked)

_space = {'__name__': '__main__', '__builtins__': {**vars(builtins), '__import__': _import}, 'cordon': cordon}

def _seen():
    found = {}
    for name in sorted(os.listdir('.')):
        status = os.lstat(name)
        if os.path.isfile(name) and not os.path.islink(name):
            found[name] = (status.st_mtime_ns, status.st_size)
    return found

def _figures():
    plots = sys.modules.get('matplotlib.pyplot')
    if plots is None:
        return
    for number in plots.get_fignums():
        plots.figure(number).savefig(f'figure-{number}.png')
    plots.close('all')

def _files(before, space):
    given = []
    for name, state in _seen().items():
        if before.get(name) == state or state[1] > space or len(given) == 16:
            continue
        space -= state[1]
        with open(name, 'rb') as file:
            given.append({'name': name, 'base64': base64.b64encode(file.read()).decode()})
    return given

def _value(value):
    if value is None:
        return None
    if hasattr(value, 'to_csv') and hasattr(value, 'columns'):
        value.to_csv('table.csv')
    return repr(value)

def _execute(code):
    tree = ast.parse(code, '<program>')
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, '<program>', 'exec'), _space)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), '<program>', 'eval'), _space)

def _own_frames(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != '<program>':
        trace = trace.tb_next
    return ''.join(traceback.format_exception(type(error), error, trace))

sys.stdout = sys.__stdout__ = _Stream('stdout')
sys.stderr = sys.__stderr__ = _Stream('stderr')
_send({'kind': 'ready'})
while True:
    _line = _in.readline()
    if not _line:
        break
    _frame = json.loads(_line)
    if _frame['kind'] != 'run':
        continue
    _run = _frame['run']
    for _one in _frame['tools']:
        setattr(cordon, _one['name'], _tool(_one['name'], _one['first']))
    _before = _seen()
    _done = {'kind': 'done', 'run': _run, 'value': None, 'error': None, 'limit': None, 'files': []}
    try:
        _done['value'] = _value(_execute(_frame['code']))
    except MemoryError as error:
        _done['limit'] = 'memory'
        _done['error'] = 'MemoryError'
    except RecursionError as error:
        _done['error'] = 'RecursionError: ' + str(error)
    except SystemExit as error:
        if error.code not in (None, 0):
            _done['error'] = f'exit {error.code}'
    except BaseException as error:
        _done['error'] = _own_frames(error)
    try:
        _figures()
        _done['files'] = _files(_before, 16 * 1024 * 1024)
    except BaseException as error:
        _done['error'] = _done['error'] or repr(error)
    _send(_done)
`
