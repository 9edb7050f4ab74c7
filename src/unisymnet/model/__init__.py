"""The transformer that proposes structures: its training (torch) and its use (numpy and onnxruntime only)."""
