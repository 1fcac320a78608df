#!/usr/bin/env python3
"""Writes rules/ort130/ops-*.yaml from a JSON export of ONNX Runtime's own operator schemas.

    scripts/convert_contrib_schemas.py contrib-schemas.json rules/ort130

The YAML files are kept in the repository and may be edited; this was run once, for ONNX Runtime 1.30.0.
"""
import json
import os
import re
import sys

# Shape of the outputs: that of the ONNX operator named, given these inputs.
UNARY = 'like Relu({})'
SHAPES = {
    'QuantizeLinear': UNARY.format('x'),
    'DequantizeLinear': UNARY.format('x'),
    'QLinearAdd': 'like Add(A, B)',
    'QLinearMul': 'like Mul(A, B)',
    'QLinearConcat': 'like Concat(2, 5...)',
    'QLinearAveragePool': 'like AveragePool(X) if channels_last = 0',
    'QLinearGlobalAveragePool': 'like GlobalAveragePool(X) if channels_last = 0',
    'QLinearSigmoid': UNARY.format('X'),
    'QLinearLeakyRelu': UNARY.format('X'),
    'QLinearSoftmax': UNARY.format('X'),
    'QLinearWhere': 'like Where(condition, X, Y)',
    'QLinearConv': 'like QLinearConv(x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B) '
                   'if channels_last = 0',
    'QGemm': 'like Gemm(A, B)',
    'MatMulIntegerToFloat': 'like MatMul(A, B)',
    'DynamicQuantizeMatMul': 'like MatMul(A, B)',
    'FusedConv': 'like Conv(X, W, B)',
    'FusedGemm': 'like Gemm(A, B, C)',
    'FusedMatMul': 'like MatMul(A, B) if transA = 0, transB = 0, transBatchA = 0, transBatchB = 0',
    'Gelu': UNARY.format('X'),
    'BiasGelu': UNARY.format('A'),
    'FastGelu': UNARY.format('X'),
    'QuickGelu': UNARY.format('X'),
    'SkipLayerNormalization': UNARY.format('input'),
    'SkipSimplifiedLayerNormalization': UNARY.format('input'),
}
# Element type of the first output, where no constraint ties it to an input that is always there.
TYPES = {
    'QuantizeLinear': 'y_zero_point | uint8',
    'QGemm': 'y_zero_point | float',
}


def element(type_name):
    """tensor(float) -> float."""
    inner = re.fullmatch(r'tensor\((\w+)\)', type_name)
    return inner.group(1) if inner else type_name


def dense(types):
    return [t for t in types if not t.startswith('sparse_')]


def parameter(formal, constraints):
    allowed = dense(constraints.get(formal['type'], []))
    # A constraint with one type is written as that type.
    kind = allowed[0] if len(allowed) == 1 else element(formal['type'])
    mark = {'optional': '?', 'variadic': '...'}.get(formal.get('option'), '')
    return f"{kind} {formal['name']}{mark}"


def attribute(name, schema):
    text = f"{schema['type']} {name}"
    if 'default' in schema:
        return f"{text} = {json.dumps(schema['default'])}"
    return text if schema['required'] else text + '?'


def wrapped(key, parts):
    """`key: a, b, c`, continued on further lines where it is long."""
    lines, line = [], f'    {key}: '
    for i, part in enumerate(parts):
        piece = part + (', ' if i + 1 < len(parts) else '')
        if len(line) + len(piece) > 118:
            lines.append(line.rstrip())
            line = '      '
        line += piece
    lines.append(line)
    text = '\n'.join(lines)
    return text.replace(f'{key}: ', f'{key}: >\n      ', 1) if '"' in text or ' #' in text else text


# Operators whose attributes ONNX Runtime does not check.
LAX = {'EPContext'}
# Attributes that get a value although the exported schema gives none: ONNX Runtime's kernels write it.
DEFAULTS = {('com.microsoft.nchwc', 'MaxPool', 'ceil_mode'): 0, ('com.microsoft.nchwc', 'AveragePool', 'ceil_mode'): 0}
# Which operators of a domain go into which file.
QUANTIZED = re.compile('Q[A-Z]|DequantizeLinear|DynamicQuantize|MatMulInteger|MatMulNBits|MatMulBnb4|QuantizeLinear|.*Quant|.*Int8')
FILES = [
    ('com.microsoft', 'ops-com.microsoft.yaml', lambda name: not QUANTIZED.match(name)),
    ('com.microsoft', 'ops-com.microsoft-quantized.yaml', QUANTIZED.match),
    ('com.microsoft.nchwc', 'ops-nchwc.yaml', lambda name: True),
]


def operator(name, schema):
    constraints = schema['types']
    lines = [f'  {name}:']
    lines.append(wrapped('inputs', [parameter(f, constraints) for f in schema['inputs']]))
    lines.append(wrapped('outputs', [parameter(f, constraints) for f in schema['outputs']]))
    if schema['attributes']:
        lines.append(wrapped('attributes', [attribute(*a) for a in sorted(schema['attributes'].items())]))
    if name in LAX:
        lines.append('    other-attributes: true')
    used = {f['type'] for f in schema['inputs'] + schema['outputs']}
    several = [f'{n}: [{", ".join(dense(t))}]' for n, t in constraints.items() if n in used and len(dense(t)) != 1]
    if several:
        lines.append(wrapped('types', ['{' + several[0], *several[1:-1], several[-1] + '}'] if len(several) > 1
                             else ['{' + several[0] + '}']))
    for key, table in (('shape', SHAPES), ('type', TYPES)):
        if name in table:
            lines.append(f'    {key}: {table[name]}')
    return '\n'.join(lines)


def main(source, folder):
    with open(source, encoding='utf-8') as file:
        schemas = json.load(file)
    for domain, target, belongs in FILES:
        operators = {}
        for key, schema in schemas.items():
            in_domain, name = key.rsplit('.', 1)
            if in_domain != domain or not belongs(name):
                continue
            for attribute_name, value in schema['attributes'].items():
                if (domain, name, attribute_name) in DEFAULTS:
                    value['default'] = DEFAULTS[domain, name, attribute_name]
            operators[name] = schema
        text = [f'# Operators of {domain} in ONNX Runtime 1.30.0 (docs/rule-language.md, "Schemas").',
                f'domain: {domain}', 'ops:']
        text += [operator(name, schema) for name, schema in sorted(operators.items())]
        body = '\n'.join(text) + '\n'
        if domain != 'com.microsoft':
            body = re.sub(r'\n    shape: .*', '', body)
        with open(os.path.join(folder, target), 'w', encoding='utf-8') as file:
            file.write(body)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
